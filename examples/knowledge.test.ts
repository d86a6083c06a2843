import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const sources: readonly string[] = process.env["LOOPWRIGHT_BUILT"] === "1" ? [] : ["--conditions=@loopwright/source"];
const file = fileURLToPath(new URL("./knowledge.ts", import.meta.url));

test("B102, B35: chatbot_tool is there in the mode CHATBOT alone, and forces rag_tool for the next model call alone", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [...sources, "--no-warnings", file]);
  expect(stdout.trimEnd().split("\n")).toEqual([
    "no tool auto",
    "rag_tool auto",
    "rag_tool auto",
    "rag_tool and chatbot_tool auto",
    "rag_tool and chatbot_tool must use rag_tool",
    "rag_tool and chatbot_tool auto",
    "Nine metres, as the chart has it.",
  ]);
});
