import type { Scheduler, Task } from "./scheduler.ts";

/**
 * Runs the steps of all tasks that can go on at the same time, for a model that computes them together and has an order of
 * its own. Between two runs of a graph the event loop goes round, so that a callback need not wait for a step.
 */
export function createBatchScheduler(): Scheduler {
  const tasks = new Set<Task>();
  const running = new Map<Task, Promise<void>>();
  let isStopped = false;

  const begin = (task: Task): void => {
    if (isStopped || !tasks.has(task) || running.has(task) || !task.isRunnable) return;
    const step = task.step().then(() => {
      running.delete(task);
      begin(task);
    });
    running.set(task, step);
  };
  const beginAll = (): void => {
    for (const task of tasks) begin(task);
  };

  return {
    add(task) {
      tasks.add(task);
      begin(task);
    },
    remove(task) {
      tasks.delete(task);
    },
    wake: beginAll,
    between(callback) {
      callback();
    },
    async stop() {
      isStopped = true;
      while (running.size > 0) await Promise.all(running.values());
    },
  };
}
