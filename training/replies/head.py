"""A linear head that tells kinds of turns apart (softmax regression), and from which probability a kind's line may be said,
by exemplars from which it had not learnt.

    python head.py
"""

import json
from pathlib import Path

import torch

HERE = Path(__file__).parent
FOLDS = 5
# Of the weights' squares, in units of a mean exemplar's loss; found on the folds.
DECAY = 1e-5
# What a line is worth that was meant for another kind: a consolation for one sorrow mostly does for another.
WORTH = {"bad": 0.85, "good": 0.85, "plain": 0.5}
LEAST_PRECISION = 0.9
LEAST = {"form": 0.4, "line": 0.4, "told": 0.35}
MOST = {"form": 0.8, "line": 0.6, "told": 0.55}


def trained(vectors, kinds, shares, count, decay=DECAY):
    torch.manual_seed(1)
    weights = torch.zeros(count, vectors.shape[1], requires_grad=True)
    biases = torch.zeros(count, requires_grad=True)
    # Rare kinds count more, up to a bound.
    counts = torch.zeros(count).index_add_(0, kinds, shares)
    share = shares * (counts.mean() / counts.clamp(min=1)).sqrt().clamp(max=2)[kinds]
    optimizer = torch.optim.LBFGS([weights, biases], max_iter=300, line_search_fn="strong_wolfe")

    def loss():
        optimizer.zero_grad()
        each = torch.nn.functional.cross_entropy(vectors @ weights.T + biases, kinds, reduction="none")
        total = (each * share).sum() / share.sum() + decay * weights.square().sum()
        total.backward()
        return total

    optimizer.step(loss)
    return weights.detach(), biases.detach()


def main() -> None:
    torch.set_num_threads(1)
    first, *lines = (HERE / ".cache/exemplars.jsonl").read_text().splitlines()
    acts, rows = json.loads(first), [json.loads(line) for line in lines]
    vectors = torch.tensor([row["vector"] for row in rows])
    kinds = torch.tensor([row["kind"] for row in rows])
    ids = [(row["kind"], row["exemplar"]) for row in rows]
    shares = shares_of(ids)
    fold = torch.tensor([(kind * 7 + exemplar) % FOLDS for kind, exemplar in ids])
    odds = torch.zeros(len(rows), len(acts))
    for part in range(FOLDS):
        rest = fold != part
        weights, biases = trained(vectors[rest], kinds[rest], shares[rest], len(acts))
        odds[~rest] = (vectors[~rest] @ weights.T + biases).softmax(-1)
    sure, guess = odds.max(-1)
    right = guess == kinds
    polarity = [act["polarity"] for act in acts]
    answered = [act["answered"] for act in acts]
    print(f"{right.float().mean():.3f} of {len(rows)} right")
    worth = torch.tensor([
        1.0 if a == b else 0.0 if answered[a] != answered[b] or polarity[a] != polarity[b]
        else WORTH[polarity[a]] if answered[a] == "told" else 0.2
        for a, b in zip(kinds.tolist(), guess.tolist())
    ])
    least = []
    for n, act in enumerate(acts):
        taken = (guess == n).nonzero().flatten()
        order = taken[sure[taken].argsort(descending=True)]
        mean = worth[order].cumsum(0) / torch.arange(1, len(order) + 1)
        enough = (mean >= LEAST_PRECISION).nonzero().flatten()
        found = float(sure[order[enough[-1]]]) if len(enough) else 0.95
        kind = act["answered"]
        least.append(round(min(MOST.get(kind, 1), max(LEAST.get(kind, 1), found)), 3))
        said = int(((guess == n) & (sure >= least[-1])).sum())
        print(f"  {act['name']}: from {least[-1]}, {said} of {int((kinds == n).sum())}")
    for tone in ("bad", "good", "plain"):
        mine = torch.tensor([a == "told" and p == tone for a, p in zip(answered, polarity)])
        total, truly = odds[:, mine].sum(-1), mine[kinds]
        for bound in (0.6, 0.7, 0.8, 0.9):
            said = total >= bound
            print(f"  any {tone} from {bound}: {said.sum()} said, {truly[said].float().mean():.3f} right")
    weights, biases = trained(vectors, kinds, shares, len(acts))
    (HERE / ".cache/head.json").write_text(json.dumps({
        "kinds": [act["name"] for act in acts],
        "least": least,
        "weights": [[round(x, 4) for x in row] for row in weights.tolist()],
        "biases": [round(x, 4) for x in biases.tolist()],
    }))


def shares_of(ids):
    counts: dict = {}
    for each in ids:
        counts[each] = counts.get(each, 0) + 1
    return torch.tensor([1 / counts[each] for each in ids])


if __name__ == "__main__":
    main()
