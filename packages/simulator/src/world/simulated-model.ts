import type { ModelChunk } from "@loopwright/core";
import { type ScriptedTurn, scripted } from "@loopwright/core/memory";
import type { ModelCallIo, ModelProvider, ModelRequest } from "@loopwright/core/ports";
import type { Dice } from "./dice.ts";
import { requestFlaw } from "./request-flaw.ts";
import type { SimulatedNode } from "./simulated-node.ts";
import type { VirtualTime } from "./virtual-time.ts";
import type { Witness } from "./witness.ts";

/** The model's answer to a request; may throw the error of a vendor. */
export type ModelScript = (
  request: ModelRequest,
  scene: { readonly dice: Dice; readonly attempt: number; readonly isCalm: boolean },
) => ScriptedTurn;

export interface ModelOptions {
  readonly node: SimulatedNode;
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly witness: Witness;
  readonly script: ModelScript;
  readonly isCalm: () => boolean;
  /** Milliseconds until the first batch and between two. */
  readonly paceMs: { readonly first: number; readonly next: number };
  /** As declared by the agent's own provider. */
  readonly like: Pick<ModelProvider, "name" | "defaultModel" | "capabilities">;
}

/** A vendor of models whose answers take virtual time, and whose connections die with the process that opened them. */
export function simulatedModel(options: ModelOptions): ModelProvider {
  const { node, time, dice, script, isCalm, like } = options;
  return {
    name: like.name,
    defaultModel: like.defaultModel,
    capabilities: (model) => like.capabilities(model),
    async *stream(request, io) {
      io.signal.throwIfAborted();
      const session = request.cacheKey ?? "";
      if (!node.does("model-call", `${session} attempt ${io.attempt}`)) await new Promise<never>(() => {});
      const close = openConnection(session, request, io);
      const { first, next } = options.paceMs;
      try {
        await node.sleep(dice.between(first / 2, first), io.signal);
        const turn = script(request, { dice, attempt: io.attempt, isCalm: isCalm() });
        let isFirst = true;
        for await (const batch of answer(turn, request, io)) {
          if (!isFirst) await node.sleep(dice.between(next / 2, next), io.signal);
          isFirst = false;
          yield batch;
        }
      } finally {
        close();
      }
    },
  };

  function answer(turn: ScriptedTurn, request: ModelRequest, io: ModelCallIo): AsyncIterable<readonly ModelChunk[]> {
    return scripted([turn], { name: like.name, model: like.defaultModel, chunkSize: 12 }).stream(request, io);
  }

  function openConnection(session: string, request: ModelRequest, { attempt }: ModelCallIo): () => void {
    const flaw = requestFlaw(request);
    const call = options.witness.modelCalled({
      session,
      node: node.name,
      attempt,
      atMs: time.nowMs,
      request,
      ...(flaw === undefined ? {} : { flaw }),
    });
    const close = (): void => {
      call.closedAtMs ??= time.nowMs;
    };
    node.onDeath(close);
    return close;
  }
}
