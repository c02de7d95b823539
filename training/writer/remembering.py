"""Makes conversations in which something is said, talk goes on, and then it is asked for: what so small a model has to
learn to look back for. What lies between comes from authored exchanges."""

import random

from conversations import Conversation

MOST_CHARS = 280
"""Before what is asked: the server reads some 400 characters."""

NAMES = (
    "Ada Amir Anouk Bea Bruno Carla Chidi Clara Dafydd Dina Elif Emil Esme Farid Femi Gwen Hana Hugo Ines Ivo Jonas Juno "
    "Kavya Kofi Lars Leila Lotte Luca Maeve Malik Mina Nadia Nils Noor Olga Oscar Petra Priya Quinn Rafa Ronan Rosa Sami "
    "Sanna Sefa Tariq Tess Tomas Uma Vera Viktor Wanda Yara Yusuf Zadie Zeno"
).split()
PETS = "Biscuit Pickle Comet Juniper Waffle Domino Moss Tango Pepper Hector Nettle Rolo Suki Bramble Otis Figgy".split()
KIN = "sister brother cousin aunt uncle niece nephew neighbour flatmate boss teacher coach dentist daughter son".split()
ANIMALS = "dog cat rabbit hamster parrot tortoise horse goat gecko budgie".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
TIMES = "seven in the morning,half past eight,nine,ten,half past eleven,noon,two,a quarter past three,four,five,six,half past seven".split(",")
TOWNS = "Leeds Porto Ghent Krakow Cork Turin Bergen Lyon Bath Graz Tampere Lagos Halifax Hobart Kyoto Quito Riga Derby".split()
COLOURS = "red,blue,green,yellow,navy,grey,orange,purple,white,dark brown,turquoise,cream".split(",")
COUNTS = "two three four five six seven eight nine eleven twelve fourteen twenty thirty".split()
FOODS = "lentil soup,fish pie,pancakes,a risotto,tacos,vegetable curry,roast chicken,dumplings,an omelette,stuffed peppers,noodles,pizza".split(",")
ITEMS = (
    "milk,eggs,bread,rice,onions,soap,batteries,apples,candles,flour,cheese,tape,lemons,coffee,matches,oats,stamps,honey,"
    "tomatoes,butter,string,carrots,tea,nails"
).split(",")
ALLERGIES = "nuts,shellfish,eggs,milk,wheat,sesame,strawberries,cats,pollen,wool".split(",")
HOBBIES = "pottery,chess,fencing,the cello,rowing,bird watching,knitting,judo,the drums,salsa,archery,baking".split(",")
THINGS = (
    "the bike/the bus,the tent/the cottage,the blue one/the green one,the flat in town/the house by the lake,tea/coffee,"
    "the morning train/the night train,the piano/the guitar,a kitten/a puppy,the red lamp/the brass lamp,soup/salad,"
    "the long walk/the short one,the window seat/the aisle seat,wallpaper/paint,the comedy/the thriller"
).split(",")
PLACES = "the blue drawer,the shed,the top shelf,my coat pocket,the glove box,the biscuit tin,the hall cupboard,the red folder,my gym bag".split(",")
OBJECTS = "the spare key,my passport,the torch,the charger,the tickets,my glasses,the receipts,the tape measure".split(",")

# What is said, how it is asked for, what is answered. {a}, {b}, {k} … are filled by `slots`.
FACTS = (
    ("person",
     ["My {k} {a} is staying with us this week.", "I'm off to meet {a}, my {k}.", "my {k}s called {a} and never on time",
      "So {a}, that's my {k}, has started a band.", "I've got a {k} named {a} who can't stop talking."],
     ["What's my {k}'s name?", "what did i say my {k} was called", "Remind me what my {k} is called?", "who is {a} again?|kin",
      "what was the name of my {k}"],
     ["Your {k} is called {a}.", "{a}. That's your {k}.", "That's {a}."]),
    ("pet",
     ["We've got a {n} called {p}.", "{p}, my {n}, has eaten the post.", "my {n} {p} wont come out from under the bed",
      "I named the new {n} {p}."],
     ["What's my {n} called?", "what did i call the {n}", "Do you remember my {n}'s name?", "whats {p} again|animal"],
     ["Your {n} is called {p}.", "{p}, you said.", "That's {p}."]),
    ("day",
     ["The party is on {d}.", "I've got the dentist {d}.", "we're moving house on {d}", "My exam got put on {d} of all days.",
      "they're fixing the boiler {d}"],
     ["What day was that again?", "which day did i say", "When is it, then?", "so what day is it on"],
     ["It's on {d}.", "{d}, you said.", "On {d}."]),
    ("time",
     ["The train leaves at {t}.", "I have to be there at {t}.", "we meet at {t} outside the station", "The shop opens at {t}, I think."],
     ["What time was it?", "when did i say", "At what time, again?", "what time did i tell you"],
     ["At {t}.", "You said {t}.", "It's at {t}."]),
    ("town",
     ["I grew up in {w}.", "We're spending the summer in {w}.", "just got back from {w}", "I'm moving to {w} for work."],
     ["Which town did I say?", "where was that again", "What place did I tell you about?", "what town did i mention"],
     ["{w}.", "You said {w}.", "That was {w}."]),
    ("colour",
     ["I'm painting the kitchen {c}.", "I bought a {c} scarf.", "the new car is {c}", "She wants a {c} bike, nothing else will do."],
     ["What colour did I say?", "which colour was it", "what colour again", "Remind me of the colour?"],
     ["{c}.", "You said {c}.", "It was {c}."]),
    ("count",
     ["There'll be {q} of us.", "I need {q} chairs.", "we picked {q} jars of plums", "I've read {q} books this year."],
     ["How many did I say?", "how many was it again", "What was the number?", "how many, then?"],
     ["{q}.", "You said {q}.", "It was {q}."]),
    ("food",
     ["I'm making {f} tonight.", "we had {f} for lunch", "The plan is {f} on {d}.", "{k} wants {f} for the birthday dinner|mine"],
     ["What dish was it again?", "which dish did i say", "What food did I mention?", "what's the dish again"],
     ["{f}.", "You said {f}.", "It was {f}."]),
    ("list",
     ["I need {x}, {y} and {z} from the shop.", "remind me: {x}, {y}, {z}", "Shopping today is {x}, {y} and {z}.",
      "So we're out of {x}, {y} and {z}."],
     ["What were the three things?", "read me the list", "what was on my list", "What do I have to buy again?", "what was the second thing?|second",
      "what came first on the list?|first", "and the last one was?|last", "I've got the {y}. What's left?|left"],
     ["{x}, {y} and {z}.", "You said {x}, {y} and {z}."]),
    ("allergy",
     ["My {k} can't have {l}.", "{a} is allergic to {l}, mind.", "no {l} please, {a} comes out in spots"],
     ["What's the thing to avoid?", "what was it that's not allowed", "Which allergy was it?", "what cant they have again"],
     ["{l}.", "You said {l}.", "It was {l}."]),
    ("hobby",
     ["I've taken up {h}.", "My {k} {a} does {h} on {d}s.", "started {h} last month and i love it"],
     ["What was the hobby?", "what did i say about the hobby, which was it", "Which hobby did I mention?"],
     ["{h}.", "You said {h}.", "It was {h}."]),
    ("choice",
     ["I can't decide between {u} and {v}, but I lean towards {v}.", "it's {u} or {v}, probably {u}|first",
      "My {k} wants {u}, I want {v}."],
     ["Which one did I want?", "so which was i leaning towards", "Which of the two was mine?", "what did i prefer again"],
     ["{v}.", "You wanted {v}.", "You said {v}."]),
    ("place",
     ["I put {o} in {e}.", "{o} is in {e}, so I don't forget.", "right, {o} goes in {e}"],
     ["Where did I put {o}?", "where's {o} again", "where did i say {o} was"],
     ["In {e}.", "You put it in {e}.", "It's in {e}."]),
)
ACKNOWLEDGED = (
    "Noted.|All right.|Got it.|That's good to know.|Fair enough.|I'll keep that in mind while we talk.|Right you are.|Understood.|"
    "Thanks for telling me.|Very well.|Sounds like a plan.|That makes sense."
).split("|")
UNTOLD = (
    "You haven't told me that.|That hasn't come up yet.|You didn't say.|I don't think you've mentioned it.|You never told me, I'm afraid."
).split("|")


def remembered(count: int, between: list[Conversation], seed: int) -> list[tuple[Conversation, tuple[bool, ...]]]:
    """So many conversations, each with which of its turns are to be learnt: the answers to what is asked for. `between`
    are authored ones of one exchange."""
    chance = random.Random(seed)
    return [one(chance, between) for _ in range(count)]


def one(chance: random.Random, between: list[Conversation]) -> tuple[Conversation, tuple[bool, ...]]:
    kinds = chance.sample(FACTS, chance.choice((1, 1, 2, 2, 3)))
    told = [tell(chance, kind) for kind in kinds]
    turns: list[tuple[str, str]] = []
    for statement, _, _ in told:
        turns += [("user", statement), ("assistant", chance.choice(ACKNOWLEDGED))]
        for exchange in chance.sample(between, chance.choice((0, 0, 1, 2) if len(told) > 1 else (0, 1, 1, 2, 3))):
            # What the server no longer reads cannot be looked back for.
            if sum(len(text) for _, text in (*turns, *exchange.turns)) < MOST_CHARS:
                turns += exchange.turns
    before = len(turns)
    asked = chance.sample(told, min(len(told), chance.choice((1, 1, 2))))
    for _, question, answer in asked:
        turns += [("user", question), ("assistant", answer)]
    if chance.random() < 0.12:
        # A day may have been told in passing.
        other = tell(chance, chance.choice([kind for kind in FACTS if kind not in kinds and kind[0] != "day"]))
        turns += [("user", other[1]), ("assistant", chance.choice(UNTOLD))]
    learnt = tuple(n >= before and role == "assistant" for n, (role, _) in enumerate(turns))
    return Conversation("remembering", tuple(turns), "remembering"), learnt


def tell(chance: random.Random, fact) -> tuple[str, str, str]:
    _, statements, questions, answers = fact
    slots = slots_of(chance)
    statement, _, manner = chance.choice(statements).partition("|")
    question, _, sort = chance.choice(questions).partition("|")
    answer = chance.choice(answers)
    if sort == "kin":
        answer = chance.choice(("{a} is your {k}.", "That's your {k}.", "Your {k}."))
    elif sort == "animal":
        answer = chance.choice(("{p} is your {n}.", "That's your {n}."))
    elif sort in ("first", "second", "last"):
        answer = {"first": "{x}.", "second": "{y}.", "last": "{z}."}[sort]
    elif sort == "left":
        answer = chance.choice(("{x} and {z}.", "Still {x} and {z}.", "That leaves {x} and {z}."))
    elif manner == "first":
        answer = answer.replace("{v}", "{u}")
    elif manner == "mine":
        statement = statement.replace("{k} wants", "My {k} wants")
    fill = lambda text, them: capital(text.format(**them))
    # "My coat pocket" is yours when we say it.
    ours = {name: value.replace("my ", "your ") for name, value in slots.items()}
    return (fill(statement, slots) if statement[0].isupper() or chance.random() < 0.3 else statement.format(**slots),
            question.format(**slots), fill(answer, ours))


def slots_of(chance: random.Random) -> dict[str, str]:
    x, y, z = chance.sample(ITEMS, 3)
    u, v = chance.choice(THINGS).split("/")
    if chance.random() < 0.5:
        u, v = v, u
    pick = chance.choice
    return {
        "a": pick(NAMES), "k": pick(KIN), "p": pick(PETS), "n": pick(ANIMALS), "d": pick(DAYS), "t": pick(TIMES),
        "w": pick(TOWNS), "c": pick(COLOURS), "q": pick(COUNTS), "f": pick(FOODS), "x": x, "y": y, "z": z,
        "l": pick(ALLERGIES), "h": pick(HOBBIES), "u": u, "v": v, "o": pick(OBJECTS), "e": pick(PLACES),
    }  # fmt: skip


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]
