import { AgentError } from "@loopwright/core";
import type { DaemonOrder, DaemonReady } from "./start-daemon.ts";

/** The order of the command that started this process. @throws AgentError CONFIG_INVALID where no such command waits for it */
export function receiveOrder(): Promise<DaemonOrder> {
  return new Promise((resolve, reject) => {
    const refused = (): void =>
      reject(
        new AgentError("CONFIG_INVALID", {
          message: "This process was not started by `loopwright serve`, or the command that did has ended.",
          fix: "Use `loopwright serve start`, or `loopwright run` to serve in the foreground.",
        }),
      );
    if (!process.connected) return refused();
    process.once("disconnect", refused);
    process.once("message", (order: DaemonOrder) => {
      process.off("disconnect", refused);
      resolve(order);
    });
  });
}

/** Lets that command return. It may have ended meanwhile: this process stays. */
export function reportReady(ready: DaemonReady): void {
  if (!process.connected) return;
  process.send?.(ready, () => {
    if (process.connected) process.disconnect();
  });
}
