import type { Message, SessionSnapshot } from "@loopwright/core/protocol";
import { expect, it } from "vitest";
import { transcriptFileName, transcriptMarkdown } from "./transcript-markdown.ts";

const messages: readonly Message[] = [
  {
    role: "user",
    content: [
      { type: "text", text: "What time?" },
      { type: "image", mediaType: "image/png", source: { blob: "b" } },
    ],
  },
  {
    role: "assistant",
    stopReason: "tool_calls",
    model: "offline-demo",
    content: [
      { type: "thinking", text: "secret thought" },
      { type: "tool_call", callKey: "r.1.0", id: "c1", name: "current_time", args: { zone: "UTC" } },
    ],
  },
  { role: "tool_result", toolCallId: "c1", toolName: "current_time", content: "```\n12:00\n```" },
  { role: "assistant", stopReason: "aborted", content: [{ type: "text", text: "It is" }] },
];

const snapshot: SessionSnapshot = {
  sessionId: "s1",
  agent: "demo",
  title: "Time",
  status: "idle",
  createdAt: 0,
  updatedAt: 0,
  cursor: "1.0",
  messages: messages.map((message, place) => ({ id: `${place}`, parent: place === 0 ? null : `${place - 1}`, at: 0, message })),
  head: "3",
  waiting: [],
};

it("an exported conversation holds texts, calls, results and how it was cut off, but no thinking", () => {
  expect([...transcriptMarkdown(snapshot)].join("")).toBe(
    [
      "# Time",
      "demo, 1970-01-01T00:00:00.000Z",
      "## User\n\nWhat time?\n\n[image, image/png]",
      '## Assistant (offline-demo)\n\nCall of `current_time`\n\n```json\n{\n  "zone": "UTC"\n}\n```',
      "### Result of `current_time`\n\n````\n```\n12:00\n```\n````",
      "## Assistant\n\nIt is\n\n_Stopped._",
    ]
      .join("\n\n")
      .concat("\n"),
  );
});

it("a file name keeps letters of any script and nothing that a file system minds", () => {
  expect(transcriptFileName({ title: "Über Züge / 東京?" })).toBe("über-züge-東京");
  expect(transcriptFileName({ title: "../.." })).toBe("conversation");
  expect(transcriptFileName({})).toBe("conversation");
});
