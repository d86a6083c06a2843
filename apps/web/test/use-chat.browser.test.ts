import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chatPage } from "./support/chat-page.ts";
import { gardenTests } from "./support/garden-tests.ts";
import { pageTest } from "./support/page-test.ts";

gardenTests({ name: "use-chat", client: "useChat", messagesOfTwoTurns: 1, denied: "It was denied." });

const program = fileURLToPath(new URL("../../../examples/pages/server.ts", import.meta.url));

pageTest("useChat: the program of the example serves the page with the offline model, whose calls the page answers", async (scene) => {
  const child = spawn(process.execPath, ["--conditions=@loopwright/source", "--no-warnings", program, "use-chat"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, PORT: "0" },
  });
  scene.onEnd(() => child.kill());
  scene.expectErrors(/^Content security policy: script-src eval$/);
  for await (const url of createInterface({ input: child.stdout })) {
    const page = await scene.open(url);
    const chat = chatPage(page);
    await page.getByRole("button", { name: "Use choose_bed." }).click();
    await page.getByRole("button", { name: "beans", exact: true }).click();
    await chat.answers.getByText("The tool `choose_bed` says: beans").waitFor();
    await chat.rested();
    return;
  }
  throw new Error("The program ended before it listened.");
});
