import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

// On Windows nothing guards the program.
test.skipIf(process.platform === "win32")(
  "a program that ignores the end of its input ends when the process that called it is killed",
  async () => {
    const server = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const stubborn = `process.on("SIGTERM", () => {}); process.stdin.on("end", () => {}).resume(); require("node:net").connect(${port}, "127.0.0.1");`;
    const directory = await mkdtemp(join(tmpdir(), "loopwright-killed-parent-"));
    const file = join(directory, "caller.mjs");
    const options = { path: process.execPath, args: ["--eval", stubborn], directory, network: true };
    await writeFile(
      file,
      `import { subprocess } from ${JSON.stringify(new URL("../src/index.ts", import.meta.url).href)};
       const request = { model: "m", messages: [{ role: "user", content: "Hello." }] };
       for await (const _ of subprocess(${JSON.stringify(options)}).stream(request, { signal: new AbortController().signal, attempt: 1 }));`,
    );
    const connected = once(server, "connection");
    const caller = spawn(process.execPath, ["--conditions=@loopwright/source", "--no-warnings", file], {
      stdio: ["ignore", "inherit", "inherit"],
    });
    onTestFinished(() => void caller.kill("SIGKILL"));
    const [line] = (await connected) as [Socket];
    line.resume().on("error", () => {});
    expect(line.closed).toBe(false);
    // Its connection is closed when the program has ended, and by nothing else.
    const closed = once(line, "close");
    caller.kill("SIGKILL");
    await closed;
  },
);
