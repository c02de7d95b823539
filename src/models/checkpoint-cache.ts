import { abortable } from "../core/abortable.ts";
import type { Preset, UnusedKnobs } from "../core/script.ts";
import { SpeechFailedError, type SpeechModel } from "../core/speech-model.ts";

export interface LoadableCheckpoint {
  readonly name: string;
  /** Upper bound of its memory while loaded. */
  readonly memoryBytes: number;
  load(): Promise<SpeechModel>;
  /** Milliseconds without a lease after which it is unloaded. Absent: only when its memory is needed. */
  readonly idleUnloadMs?: number;
  /** Returns the knobs without effect under a preset. Absent: none. */
  unusedKnobs?(preset: Preset): UnusedKnobs;
}

export interface CachedCheckpoint {
  readonly checkpoint: string;
  readonly memoryBytes: number;
  readonly state: "loading" | "loaded" | "unloading";
  readonly leases: number;
  readonly isPinned: boolean;
}

/** A loaded model, which stays loaded until `release`. That may be called twice. */
export interface CheckpointLease {
  readonly model: SpeechModel;
  /** Milliseconds spent waiting for the model to load; `null` if it was loaded. */
  readonly loadMs: number | null;
  release(): void;
}

interface Entry {
  readonly checkpoint: LoadableCheckpoint;
  readonly loading: Promise<SpeechModel>;
  state: CachedCheckpoint["state"];
  leases: number;
  idleTimer?: NodeJS.Timeout;
}

interface Waiter {
  readonly checkpoint: LoadableCheckpoint;
  /** Set once admitted, when the entry already counts this lease. */
  entry: Entry | null;
  admit(entry: Entry): void;
  refuse(error: unknown): void;
}

/**
 * The checkpoints in memory, each loaded on first use and once for all waiting requests. If the budget is exhausted,
 * idle ones are unloaded, least recently used first, and requests wait in order of arrival. Idle ones are also
 * unloaded after their `idleUnloadMs`; pinned ones never. What is in memory never exceeds the budget.
 */
export class CheckpointCache {
  readonly #budgetBytes: number;
  readonly #pinned: ReadonlySet<string>;
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #waiters = new Set<Waiter>();
  #closing: Promise<void> | null = null;

  constructor(budgetBytes: number, pinned: ReadonlySet<string>) {
    this.#budgetBytes = budgetBytes;
    this.#pinned = pinned;
  }

  /**
   * Waits until the checkpoint is loaded, and reserves it. Throws the signal's reason, or {@link SpeechFailedError}
   * if it cannot be loaded; the next call tries again.
   */
  async acquire(checkpoint: LoadableCheckpoint, signal: AbortSignal): Promise<CheckpointLease> {
    signal.throwIfAborted();
    const startMs = performance.now();
    const wasLoaded = this.#entries.get(checkpoint.name)?.state === "loaded";
    const entry = await this.#awaitAdmission(checkpoint, signal);
    let isActive = true;
    const release = (): void => {
      if (isActive) this.#releaseLease(entry);
      isActive = false;
    };
    try {
      const model = await abortable(entry.loading, signal);
      return { model, loadMs: wasLoaded ? null : performance.now() - startMs, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  list(): CachedCheckpoint[] {
    return [...this.#entries.values()].map(({ checkpoint, state, leases }) => ({
      checkpoint: checkpoint.name,
      memoryBytes: checkpoint.memoryBytes,
      state,
      leases,
      isPinned: this.#pinned.has(checkpoint.name),
    }));
  }

  /**
   * Unloads everything, in use or not, after pending loads have finished. No checkpoint can be acquired afterwards.
   */
  close(): Promise<void> {
    this.#closing ??= this.#unloadAll();
    return this.#closing;
  }

  async #awaitAdmission(checkpoint: LoadableCheckpoint, signal: AbortSignal): Promise<Entry> {
    if (this.#closing !== null) throw stoppingError();
    let waiter: Waiter | undefined;
    const admitted = new Promise<Entry>((admit, refuse) => {
      waiter = { checkpoint, entry: null, admit, refuse };
      this.#waiters.add(waiter);
      this.#admit();
    });
    try {
      return await abortable(admitted, signal);
    } catch (error) {
      if (waiter?.entry) this.#releaseLease(waiter.entry);
      else if (waiter !== undefined) this.#waiters.delete(waiter);
      this.#admit();
      throw error;
    }
  }

  /** Admits waiters. Loaded checkpoints need no room; only the first waiter that needs room gets it. */
  #admit(): void {
    let isRoomReserved = false;
    for (const waiter of this.#waiters) {
      const { name } = waiter.checkpoint;
      let entry = this.#entries.get(name);
      if (entry === undefined && !isRoomReserved && this.#makeRoom(waiter.checkpoint.memoryBytes))
        entry = this.#load(waiter.checkpoint);
      if (entry === undefined || entry.state === "unloading") {
        isRoomReserved = true;
        continue;
      }
      this.#waiters.delete(waiter);
      entry.leases += 1;
      clearTimeout(entry.idleTimer);
      this.#markUsed(entry);
      waiter.entry = entry;
      waiter.admit(entry);
    }
  }

  /**
   * Returns whether `bytes` are free. If not, starts to unload idle checkpoints, provided that this would be enough.
   */
  #makeRoom(bytes: number): boolean {
    const entries = [...this.#entries.values()];
    let missing = bytes - (this.#budgetBytes - sumBytes(entries));
    if (missing <= 0) return true;
    missing -= sumBytes(entries.filter(({ state }) => state === "unloading"));
    const idle = entries.filter((entry) => this.#isIdle(entry));
    if (missing > sumBytes(idle)) return false;
    for (const entry of idle) {
      if (missing <= 0) break;
      missing -= entry.checkpoint.memoryBytes;
      this.#unload(entry);
    }
    return false;
  }

  #isIdle(entry: Entry): boolean {
    return entry.state === "loaded" && entry.leases === 0 && !this.#pinned.has(entry.checkpoint.name);
  }

  #load(checkpoint: LoadableCheckpoint): Entry {
    const loading = Promise.resolve()
      .then(() => checkpoint.load())
      .catch((error: unknown) => {
        throw loadError(checkpoint, error);
      });
    const entry: Entry = { checkpoint, loading, state: "loading", leases: 0 };
    this.#entries.set(checkpoint.name, entry);
    loading.then(
      () => {
        entry.state = "loaded";
        this.#scheduleIdleUnload(entry);
        this.#admit();
      },
      () => this.#remove(entry),
    );
    return entry;
  }

  #unload(entry: Entry): void {
    entry.state = "unloading";
    clearTimeout(entry.idleTimer);
    void entry.loading
      .then((model) => model.close())
      .catch(() => {})
      .then(() => this.#remove(entry));
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry.checkpoint.name);
    this.#admit();
  }

  #releaseLease(entry: Entry): void {
    entry.leases -= 1;
    this.#markUsed(entry);
    this.#scheduleIdleUnload(entry);
    this.#admit();
  }

  #scheduleIdleUnload(entry: Entry): void {
    const { idleUnloadMs } = entry.checkpoint;
    if (idleUnloadMs === undefined || !this.#isIdle(entry)) return;
    clearTimeout(entry.idleTimer);
    entry.idleTimer = setTimeout(() => {
      if (this.#isIdle(entry) && this.#closing === null) this.#unload(entry);
    }, idleUnloadMs).unref();
  }

  #markUsed(entry: Entry): void {
    if (this.#entries.get(entry.checkpoint.name) !== entry) return;
    this.#entries.delete(entry.checkpoint.name);
    this.#entries.set(entry.checkpoint.name, entry);
  }

  async #unloadAll(): Promise<void> {
    for (const waiter of this.#waiters) waiter.refuse(stoppingError());
    this.#waiters.clear();
    const entries = [...this.#entries.values()];
    for (const { idleTimer } of entries) clearTimeout(idleTimer);
    await Promise.all(entries.map((entry) => entry.loading.then((model) => model.close()).catch(() => {})));
    this.#entries.clear();
  }
}

function sumBytes(entries: readonly Entry[]): number {
  return entries.reduce((sum, { checkpoint }) => sum + checkpoint.memoryBytes, 0);
}

function stoppingError(): SpeechFailedError {
  return new SpeechFailedError("the models are being unloaded, because the service stops");
}

function loadError(checkpoint: LoadableCheckpoint, cause: unknown): SpeechFailedError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new SpeechFailedError(`the checkpoint ${checkpoint.name} could not be loaded: ${reason}`, { cause });
}
