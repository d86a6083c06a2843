import { isAgentError } from "@loopwright/core/protocol";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { flushSync } from "react-dom";
import { NoticeList } from "./app/notice-list.tsx";
import { useServices } from "./app/services.ts";
import { ShortcutsDialog } from "./app/shortcuts-dialog.tsx";
import { SignIn } from "./app/sign-in.tsx";
import { themes } from "./app/theme.ts";
import { useListUpdates } from "./app/use-list-updates.ts";
import { goTo, useRoute } from "./app/use-route.ts";
import { useShortcuts } from "./app/use-shortcuts.ts";
import { useSidebar } from "./app/use-sidebar.ts";
import { useWatched } from "./app/use-watched.ts";
import { SessionScreen } from "./session/session-screen.tsx";
import { StartScreen } from "./session/start-screen.tsx";
import { Sidebar } from "./sidebar/sidebar.tsx";

/** The page: the list of conversations, and the one that is open. */
export function App(): ReactNode {
  const { list, agents, theme, notices, kept } = useServices();
  const route = useRoute();
  const sidebar = useSidebar(kept);
  const [isHelpShown, setHelpShown] = useState(false);
  const refusal = useWatched(list, ({ error }) => (isAgentError(error, "UNAUTHENTICATED") ? error : undefined));
  const sessionId = route.name === "session" ? route.sessionId : undefined;

  useEffect(() => {
    void agents.load();
  }, [agents]);
  useListUpdates();

  const openNeighbour = (step: number): void => {
    const { sessions } = list.read();
    const place = sessions.findIndex(({ id }) => id === sessionId);
    const next = sessions[place + step];
    if (next) goTo({ name: "session", sessionId: next.id });
  };
  const showHelp = useCallback(() => setHelpShown(true), []);

  useShortcuts({
    help: () => setHelpShown(true),
    new: () => {
      goTo({ name: "new" });
      sidebar.closeDrawer();
      focusOn("message");
    },
    search: () => {
      // The field cannot have the focus before it is shown.
      flushSync(sidebar.open);
      focusOn("search");
    },
    compose: () => focusOn("message"),
    model: () => focusOn("model-picker"),
    sidebar: sidebar.toggle,
    next: () => openNeighbour(1),
    previous: () => openNeighbour(-1),
    theme() {
      const next = themes[(themes.indexOf(theme.read()) + 1) % themes.length] ?? "system";
      theme.choose(next);
      notices.say(next === "system" ? "Theme as the system" : `Theme: ${next}`);
    },
  });

  if (refusal) return <SignIn error={refusal} />;
  return (
    <div className="page" data-sidebar={sidebar.isShown ? "shown" : "hidden"}>
      <button type="button" className="skip-link" onClick={() => focusOn("message")}>
        Skip to the message field
      </button>
      <nav className="sidebar" aria-label="Conversations" inert={!sidebar.isShown}>
        <Sidebar currentId={sessionId} onShortcuts={showHelp} onChosen={sidebar.closeDrawer} onHide={sidebar.close} />
      </nav>
      {sidebar.isDrawerOpen ? (
        <button type="button" className="drawer-backdrop" aria-label="Close conversations" onClick={sidebar.close} />
      ) : null}
      <main className="main" inert={sidebar.isDrawerOpen}>
        {route.name === "new" ? (
          <StartScreen onSidebar={sidebar.isShown ? undefined : sidebar.open} />
        ) : (
          <SessionScreen
            key={route.sessionId}
            sessionId={route.sessionId}
            messageId={route.messageId}
            runId={route.runId}
            onSidebar={sidebar.isShown ? undefined : sidebar.open}
          />
        )}
      </main>
      <NoticeList notices={notices} />
      {isHelpShown ? <ShortcutsDialog onClose={() => setHelpShown(false)} /> : null}
    </div>
  );
}

function focusOn(id: string): boolean {
  const element = document.getElementById(id);
  element?.focus();
  return element !== null;
}
