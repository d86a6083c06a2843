import type { AgentCard } from "@loopwright/client";
import type { WaitingInput } from "@loopwright/core/protocol";
import { type ReactNode, type RefObject, useEffect, useState } from "react";
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

const noneThere: readonly WaitingInput[] = [];

/** The composer of an open session. A delta of the answer does not render it. */
export function SessionComposer({ session, actions, model }: SessionComposerProps): ReactNode {
  const { client, agents, list, models } = useServices();
  const known = useWatched(agents, (state) => state.agents);
  const agentName = useWatched(session, ({ view }) => view?.agent);
  const lastModel = useWatched(session, ({ view }) => models.get(session.sessionId) ?? view?.model);
  const status = useWatched(session, ({ view }) => view?.status ?? "idle");
  const isStopping = useWatched(session, ({ view }) => view?.run?.aborting !== undefined);
  const waiting = useWatched(session, ({ view }) => view?.waiting ?? noneThere);
  const isConnected = useWatched(session, ({ connection }) => connection === "live");
  const isClosed = useWatched(session, ({ view }) => view?.status === "closed");
  const [chosen, setChosen] = useState<ModelChoice>();
  const agent = known.find(({ name }) => name === agentName);

  const choice = chosen ?? usualChoice(agent, lastModel);
  const picked = choice?.model;
  useEffect(() => {
    model.current = picked;
  }, [model, picked]);

  if (isClosed) return <p className="composer-closed">This conversation is closed.</p>;
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
        // A user may send before the list of agents has arrived, and still gets the model that the picker is about to show.
        await agents.load();
        const { view } = session.read();
        const card = agents.read().agents.find(({ name }) => name === view?.agent);
        const asked = chosen ?? usualChoice(card, models.get(session.sessionId) ?? view?.model);
        await client.sessions.submit(session.sessionId, message, { mode, idempotencyKey: key, ...(asked ? { model: asked.model } : {}) });
        list.refresh();
      }}
      stop={actions.stop}
    >
      <ModelPicker agents={agent ? [agent] : []} choice={choice} onChoose={setChosen} />
    </Composer>
  );
}

/** The model that answered last, as long as the agent offers it; else the agent's own. */
function usualChoice(agent: AgentCard | undefined, lastModel: string | undefined): ModelChoice | undefined {
  if (!agent) return undefined;
  return { agent: agent.name, model: lastModel !== undefined && agent.models.includes(lastModel) ? lastModel : agent.model };
}
