import type { MessageId } from "@loopwright/core/protocol";
import { lazy, type ReactNode, Suspense, useEffect, useMemo, useRef, useState } from "react";
import { MenuButton } from "../app/menu-button.tsx";
import { ProblemNote } from "../app/problem-note.tsx";
import { useServices } from "../app/services.ts";
import { goTo } from "../app/use-route.ts";
import { useShortcuts } from "../app/use-shortcuts.ts";
import { useWatched } from "../app/use-watched.ts";
import { Conversation } from "../conversation/conversation.tsx";
import { DeleteDialog } from "../sidebar/delete-dialog.tsx";
import { RenameField } from "../sidebar/rename-field.tsx";
import { sessionMenu } from "../sidebar/session-menu.ts";
import { PageTools } from "../tools/page-tools-runner.tsx";
import { Announcer } from "./announcer.tsx";
import { ConnectionBanner } from "./connection-banner.tsx";
import { createSessionActions } from "./session-actions.ts";
import { SessionComposer } from "./session-composer.tsx";
import { titleOf } from "./title-of.ts";
import { Topbar } from "./topbar.tsx";
import { UsageButton } from "./usage-button.tsx";
import { useOpenSession } from "./use-open-session.ts";

const RunView = lazy(async () => ({ default: (await import("../run-view/run-view.tsx")).RunView }));

export interface SessionScreenProps {
  readonly sessionId: string;
  readonly messageId: MessageId | undefined;
  readonly runId: string | undefined;
  readonly onSidebar: (() => void) | undefined;
}

/** One open conversation. Give it a `key` per session. */
export function SessionScreen({ sessionId, messageId, runId, onSidebar }: SessionScreenProps): ReactNode {
  const services = useServices();
  const { client, list, notices } = services;
  const session = useOpenSession(sessionId);
  const { phase, view, error } = useWatched(session, (state) => state);
  const model = useRef<string>(undefined);
  const [isRenaming, setRenaming] = useState(false);
  const [isDoomed, setDoomed] = useState(false);

  const actions = useMemo(
    () =>
      createSessionActions({
        client,
        sessionId,
        view: () => session.read().view,
        model: () => model.current,
        fail: notices.fail,
        say: notices.say,
        openRun: (run) => goTo({ name: "session", sessionId, runId: run }),
      }),
    [client, session, sessionId, notices],
  );
  const title = view ? titleOf(view) : "";
  useEffect(() => {
    document.title = title === "" ? "Loopwright" : `${title} · Loopwright`;
  }, [title]);

  const closeRun = (): void => goTo({ name: "session", sessionId });
  useShortcuts({
    stop() {
      if (runId !== undefined) closeRun();
      else if (view && view.status !== "idle") actions.stop();
      else return false;
      return true;
    },
    rename: () => setRenaming(true),
    run() {
      const last = view?.path.findLast((message) => message.runId !== undefined)?.runId;
      if (runId !== undefined) closeRun();
      else if (last !== undefined) actions.openRun(last);
    },
  });

  if (phase === "missing" || (phase === "failed" && !view)) {
    return (
      <div className="screen">
        <Topbar onSidebar={onSidebar} title={<h1>{phase === "missing" ? "Conversation not found" : "Something is wrong"}</h1>} />
        <div className="start">{error ? <Trouble error={error} retry={phase === "failed" ? session.retry : undefined} /> : null}</div>
      </div>
    );
  }
  const heading = isRenaming ? (
    <RenameField title={title} onRename={(next) => list.rename(sessionId, next).catch(notices.fail)} onDone={() => setRenaming(false)} />
  ) : (
    <h1 title={title}>{title}</h1>
  );
  const items = sessionMenu({ services, sessionId, onRename: () => setRenaming(true), onDelete: () => setDoomed(true) });
  return (
    <div className="screen" data-run={runId === undefined ? "hidden" : "shown"}>
      <Topbar onSidebar={onSidebar} title={heading}>
        {view ? <UsageButton {...view} /> : null}
        <MenuButton label="Actions for this conversation" items={items} />
      </Topbar>
      <ConnectionBanner session={session} />
      <div className="conversation-place">
        {view ? (
          <Conversation view={view} actions={actions} {...(messageId === undefined ? {} : { target: messageId })} />
        ) : (
          <p className="loading" role="status">
            <span className="spinner" />
            Opening the conversation
          </p>
        )}
      </div>
      <SessionComposer session={session} actions={actions} model={model} />
      {view ? <Announcer view={view} /> : null}
      <PageTools session={session} />
      {view && runId !== undefined ? (
        <aside className="run-place" aria-label="How this answer was made">
          <Suspense fallback={<span className="spinner" />}>
            <RunView
              key={runId}
              runId={runId}
              view={view}
              load={async (run, signal) => (await client.sessions.run(sessionId, run, { signal })).events}
              onClose={closeRun}
            />
          </Suspense>
        </aside>
      ) : null}
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

function Trouble({
  error,
  retry,
}: {
  readonly error: Parameters<typeof ProblemNote>[0]["error"];
  readonly retry: (() => void) | undefined;
}): ReactNode {
  return (
    <ProblemNote error={error}>
      {retry ? (
        <button type="button" className="button small" onClick={retry}>
          Try again
        </button>
      ) : null}
      <button type="button" className="button small" onClick={() => goTo({ name: "new" })}>
        New conversation
      </button>
    </ProblemNote>
  );
}
