import type { WaitingInput } from "@loopwright/core/protocol";
import { type ReactNode, type RefObject, useState } from "react";
import { useServices } from "../app/services.ts";
import { useWatched } from "../app/use-watched.ts";
import { Composer } from "../composer/composer.tsx";
import { type ModelChoice, ModelPicker } from "../composer/model-picker.tsx";
import type { ConversationActions } from "../conversation/conversation-actions.ts";
import type { OpenSession } from "./open-session.ts";

export interface SessionComposerProps {
  readonly session: OpenSession;
  readonly actions: ConversationActions;
  /** Where the model that the person chose is put: edits and repetitions use it too. */
  readonly model: RefObject<string | undefined>;
}

const nobody: readonly WaitingInput[] = [];

/** The composer of an open session. A delta of the answer does not render it. */
export function SessionComposer({ session, actions, model }: SessionComposerProps): ReactNode {
  const { client, agents, list } = useServices();
  const known = useWatched(agents, (state) => state.agents);
  const agentName = useWatched(session, ({ view }) => view?.agent);
  const lastModel = useWatched(session, ({ view }) => view?.model);
  const status = useWatched(session, ({ view }) => view?.status ?? "idle");
  const isStopping = useWatched(session, ({ view }) => view?.run?.aborting !== undefined);
  const waiting = useWatched(session, ({ view }) => view?.waiting ?? nobody);
  const isConnected = useWatched(session, ({ connection }) => connection === "live");
  const isClosed = useWatched(session, ({ view }) => view?.closed ?? false);
  const [chosen, setChosen] = useState<ModelChoice>();
  const agent = known.find(({ name }) => name === agentName);

  if (isClosed) return <p className="composer-closed">This conversation is closed.</p>;
  const usual = lastModel !== undefined && agent?.models.includes(lastModel) ? lastModel : agent?.model;
  const choice = chosen ?? (agent && usual !== undefined ? { agent: agent.name, model: usual } : undefined);
  return (
    <Composer
      draftOf={session.sessionId}
      isRunning={status !== "idle"}
      isStopping={isStopping}
      waiting={waiting}
      isConnected={isConnected}
      placeholder={
        status === "idle" ? "Write a message" : status === "waiting" ? "Waiting for an answer of yours above" : "Write the next message"
      }
      send={async ({ message, key, mode }) => {
        await client.sessions.submit(session.sessionId, message, { mode, idempotencyKey: key, ...(choice ? { model: choice.model } : {}) });
        list.refresh();
      }}
      stop={actions.stop}
    >
      <ModelPicker
        agents={agent ? [agent] : []}
        choice={choice}
        onChoose={(next) => {
          setChosen(next);
          model.current = next.model;
        }}
      />
    </Composer>
  );
}
