import type { ViewMessage } from "@loopwright/client";
import type { Message } from "@loopwright/core/protocol";
import { expect, it } from "vitest";
import { fileNameOf, markdownOf } from "./markdown-of.ts";

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

const path = messages.map((message, place): ViewMessage => ({ id: `${place}`, parent: null, at: 0, message }));

it("an exported conversation holds words, calls, results and how it was cut off, but no thinking", () => {
  const text = markdownOf({ title: "Time", agent: "demo", createdAt: 0, path });
  expect(text).toBe(
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
  expect(fileNameOf("Über Züge / 東京?", "md")).toBe("über-züge-東京.md");
  expect(fileNameOf("../..", "json")).toBe("conversation.json");
  expect(fileNameOf(undefined, "md")).toBe("conversation.md");
});
