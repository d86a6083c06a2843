import { applyEvents, type SessionView, viewOf } from "@loopwright/client";
import type { SessionEvent } from "@loopwright/core/protocol";
import { type ReactNode, StrictMode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { Conversation } from "../../src/conversation/conversation.tsx";
import type { ConversationActions } from "../../src/conversation/conversation-actions.ts";
import { RunView } from "../../src/run-view/run-view.tsx";
import "../../src/styles/index.css";
import { scenes } from "./scenes.ts";

const parameters = new URLSearchParams(location.search);
const scene = scenes[parameters.get("scene") ?? "sample"]?.(Number(parameters.get("count") ?? 200));

interface Harness {
  view: SessionView;
  apply(events: readonly SessionEvent[]): void;
  log: string[];
}
declare global {
  interface Window {
    harness: Harness;
  }
}

let draw: () => void = () => {};
window.harness = {
  view: scene
    ? scene.view
    : viewOf({
        sessionId: "x",
        agent: "a",
        status: "idle",
        createdAt: 0,
        updatedAt: 0,
        cursor: "1.0",
        messages: [],
        head: null,
        waiting: [],
      }),
  apply(events) {
    window.harness.view = applyEvents(window.harness.view, events);
    draw();
  },
  log: [],
};

const note =
  (name: string) =>
  async (...args: readonly unknown[]): Promise<void> => {
    window.harness.log.push(`${name} ${JSON.stringify(args)}`);
  };

const actions: ConversationActions = {
  edit: note("edit"),
  regenerate: note("regenerate"),
  selectBranch: note("selectBranch"),
  fork: note("fork"),
  stop: () => void note("stop")(),
  answerCall: note("answerCall"),
  decideCall: note("decideCall"),
  openRun: (runId) => void note("openRun")(runId),
  toolLabel: () => undefined,
  fileUrl: (blob) => `/picture/${blob}`,
  linkTo: (id) => `#/c/sample/m/${id}`,
  copy: async (text) => {
    await note("copy")(text);
    return true;
  },
};

function Page(): ReactNode {
  const [, setCount] = useState(0);
  useEffect(() => {
    draw = () => setCount((count) => count + 1);
  }, []);
  const target = parameters.get("target");
  if (parameters.get("scene") === "run") {
    return <RunView runId="r1" view={window.harness.view} load={async () => scene?.events ?? []} onClose={() => {}} />;
  }
  return <Conversation view={window.harness.view} actions={actions} {...(target === null ? {} : { target })} />;
}

const root = document.getElementById("app");
if (root)
  createRoot(root).render(
    parameters.has("strict") ? (
      <StrictMode>
        <Page />
      </StrictMode>
    ) : (
      <Page />
    ),
  );
