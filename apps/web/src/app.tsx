import { isAgentError } from "@loopwright/core/protocol";
import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { NoticeList } from "./app/notice-list.tsx";
import type { Route } from "./app/route.ts";
import { useServices } from "./app/services.ts";
import { SignIn } from "./app/sign-in.tsx";
import { themes } from "./app/theme.ts";
import { useListUpdates } from "./app/use-list-updates.ts";
import { goTo, useRoute } from "./app/use-route.ts";
import { useSidebar } from "./app/use-sidebar.ts";
import { useWatched } from "./app/use-watched.ts";
import { ShortcutsDialog } from "./keys/shortcuts-dialog.tsx";
import { useShortcuts } from "./keys/use-shortcuts.ts";
import { SessionScreen } from "./session/session-screen.tsx";
import { StartScreen } from "./session/start-screen.tsx";
import { SettingsScreen } from "./settings/settings-screen.tsx";
import { Sidebar } from "./sidebar/sidebar.tsx";

/** The page: the list of conversations, and the one that is open. */
export function App(): ReactNode {
  const { account, list, agents, theme, notices, kept } = useServices();
  const route = useRoute();
  const sidebar = useSidebar(kept);
  const [isHelpShown, setHelpShown] = useState(false);
  const refusal = useWatched(list, ({ error }) => (isAgentError(error, "UNAUTHENTICATED") ? error : undefined));
  const sessionId = route.name === "session" ? route.sessionId : undefined;

  // Where the settings lead back to.
  const place = useRef<Route>({ name: "new" });
  useEffect(() => {
    if (route.name !== "settings") place.current = route;
  }, [route]);
  const closeSettings = useCallback(() => goTo(place.current), []);
  useEffect(() => {
    void agents.load();
    void account.load();
  }, [agents, account]);
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
    settings: () => (route.name === "settings" ? closeSettings() : goTo({ name: "settings" })),
    theme() {
      const next = themes[(themes.indexOf(theme.read()) + 1) % themes.length] ?? "system";
      theme.choose(next);
      notices.say(next === "system" ? "Theme as the system" : `Theme: ${next}`);
    },
  });

  const onSidebar = sidebar.isShown ? undefined : sidebar.open;
  if (refusal) return <SignIn error={refusal} />;
  return (
    <div className="page" data-sidebar={sidebar.isShown ? "shown" : "hidden"}>
      {route.name === "settings" ? null : (
        <button type="button" className="skip-link" onClick={() => focusOn("message")}>
          Skip to the message field
        </button>
      )}
      <nav className="sidebar" aria-label="Conversations" inert={!sidebar.isShown}>
        <Sidebar currentId={sessionId} onShortcuts={showHelp} onChosen={sidebar.closeDrawer} onHide={sidebar.close} />
      </nav>
      {sidebar.isDrawerOpen ? (
        <button type="button" className="drawer-backdrop" aria-label="Close conversations" onClick={sidebar.close} />
      ) : null}
      <main className="main" inert={sidebar.isDrawerOpen}>
        {route.name === "new" ? (
          <StartScreen onSidebar={onSidebar} />
        ) : route.name === "settings" ? (
          <SettingsScreen sectionId={route.sectionId} onSidebar={onSidebar} onClose={closeSettings} />
        ) : (
          <SessionScreen
            key={route.sessionId}
            sessionId={route.sessionId}
            messageId={route.messageId}
            runId={route.runId}
            onSidebar={onSidebar}
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
