import type { AgentCard } from "@loopwright/client";
import type { MessageId } from "@loopwright/core/protocol";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { MenuButton } from "../app/menu-button.tsx";
import { useServices } from "../app/services.ts";
import { goTo } from "../app/use-route.ts";
import { useWatched } from "../app/use-watched.ts";
import { ActionsContext } from "../conversation/actions-context.ts";
import { ArtifactsContext, type OpenArtifact } from "../conversation/artifacts/artifacts-context.ts";
import { titleOf } from "../conversation/title-of.ts";
import { useShortcuts } from "../keys/use-shortcuts.ts";
import { SchedulesDialog } from "../schedules/schedules-dialog.tsx";
import { DeleteDialog } from "../sidebar/delete-dialog.tsx";
import { RenameField } from "../sidebar/rename-field.tsx";
import { sessionMenu } from "../sidebar/session-menu.ts";
import { pageTools } from "../tools/page-tools.ts";
import { Announcer } from "./announcer.tsx";
import { ArtifactPlace } from "./artifact-place.tsx";
import { ConnectionBanner } from "./connection-banner.tsx";
import { ConversationPane } from "./conversation-pane.tsx";
import { ForkAndCompare } from "./fork-and-compare.tsx";
import { PageTools } from "./page-tools-runner.tsx";
import { RunPane } from "./run-pane.tsx";
import { createSessionActions } from "./session-actions.ts";
import { SessionComposer } from "./session-composer.tsx";
import { SessionTrouble } from "./session-trouble.tsx";
import { Topbar } from "./topbar.tsx";
import { UsageButton } from "./usage-button.tsx";
import { useOpenSession } from "./use-open-session.ts";

export interface SessionScreenProps {
  readonly sessionId: string;
  readonly messageId: MessageId | undefined;
  readonly runId: string | undefined;
  readonly onSidebar: (() => void) | undefined;
}

/** The label of a tool: also of calls whose start was not seen. */
function toolLabelOf(toolName: string, agent: AgentCard | undefined): string | undefined {
  const tools = [...(agent?.tools ?? []), ...pageTools.map(({ declared }) => declared)];
  return tools.find(({ name }) => name === toolName)?.label;
}

/** One open conversation. Give it a `key` per session. A delta of the answer renders the conversation, and not this. */
export function SessionScreen({ sessionId, messageId, runId, onSidebar }: SessionScreenProps): ReactNode {
  const services = useServices();
  const { client, list, notices, agents } = services;
  const session = useOpenSession(sessionId);
  const phase = useWatched(session, (state) => state.phase);
  const error = useWatched(session, (state) => state.error);
  const agentName = useWatched(session, ({ view }) => view?.agent);
  const agent = useWatched(agents, (state) => state.agents.find(({ name }) => name === agentName));
  const title = useWatched(session, ({ view }) => (view ? titleOf(view) : ""));
  const model = useRef<string>(undefined);
  const [isRenaming, setRenaming] = useState(false);
  const [isDoomed, setDoomed] = useState(false);
  const [showsSchedules, setShowsSchedules] = useState(false);
  const [forkedAt, setForkedAt] = useState<MessageId>();
  const [isCompared, setCompared] = useState(false);
  const [artifact, setArtifact] = useState<OpenArtifact>();

  const actions = useMemo(
    () =>
      createSessionActions({
        client,
        sessionId,
        view: () => session.read().view,
        model: () => model.current,
        fail: notices.fail,
        say: notices.say,
        openFork: setForkedAt,
        openRun: (run) => goTo({ name: "session", sessionId, runId: run }),
        toolLabel: (name) => toolLabelOf(name, agent),
      }),
    [client, session, sessionId, notices, agent],
  );
  useEffect(() => {
    document.title = title === "" ? "Loopwright" : `${title} · Loopwright`;
  }, [title]);

  const closeRun = (): void => goTo({ name: "session", sessionId });
  useShortcuts({
    stop() {
      if (runId !== undefined) closeRun();
      else if (artifact) setArtifact(undefined);
      else if ((session.read().view?.status ?? "idle") !== "idle") actions.stop();
      else return false;
      return true;
    },
    rename: () => setRenaming(true),
    run() {
      const last = session.read().view?.path.findLast((message) => message.runId !== undefined)?.runId;
      if (runId !== undefined) closeRun();
      else if (last !== undefined) actions.openRun(last);
    },
  });

  if (phase === "missing" || phase === "failed") {
    return <SessionTrouble error={error} isMissing={phase === "missing"} onSidebar={onSidebar} onRetry={session.retry} />;
  }
  const rename = (next: string): void => {
    list.rename(sessionId, next).catch(notices.fail);
  };
  const heading = isRenaming ? (
    <RenameField title={title} onRename={rename} onDone={() => setRenaming(false)} />
  ) : (
    <h1 title={title}>{title}</h1>
  );
  const items = sessionMenu({
    services,
    sessionId,
    onRename: () => setRenaming(true),
    onSchedules: () => setShowsSchedules(true),
    onCompare: () => setCompared(true),
    onDelete: () => setDoomed(true),
  });
  return (
    <div className="screen">
      <Topbar onSidebar={onSidebar} title={heading}>
        <UsageButton session={session} />
        <MenuButton label="Actions for this conversation" items={items} />
      </Topbar>
      <ConnectionBanner session={session} />
      <ArtifactsContext value={setArtifact}>
        <ConversationPane session={session} actions={actions} target={messageId} />
      </ArtifactsContext>
      <SessionComposer session={session} actions={actions} model={model} />
      <Announcer session={session} />
      <PageTools session={session} />
      {artifact && runId === undefined ? (
        <ActionsContext value={actions}>
          <ArtifactPlace session={session} open={artifact} onOpen={setArtifact} onClose={() => setArtifact(undefined)} />
        </ActionsContext>
      ) : null}
      {runId === undefined ? null : <RunPane key={runId} session={session} runId={runId} onClose={closeRun} />}
      {showsSchedules ? <SchedulesDialog sessionId={sessionId} onClose={() => setShowsSchedules(false)} /> : null}
      <ForkAndCompare
        session={session}
        forkedAt={forkedAt}
        isCompared={isCompared}
        onClose={() => {
          setForkedAt(undefined);
          setCompared(false);
        }}
      />
      {isDoomed ? (
        <DeleteDialog
          title={title}
          onClose={() => setDoomed(false)}
          onDelete={() => {
            goTo({ name: "new" }, { replace: true });
            list.remove(sessionId).then(() => notices.say("Conversation deleted"), notices.fail);
          }}
        />
      ) : null}
    </div>
  );
}
