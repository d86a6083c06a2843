import { type AgentServer, defaultServerLimits } from "@loopwright/server";
import { expect, it } from "vitest";
import { testServer } from "./test-server.ts";

const type = "job_progress";

/** What a listener received until the notification `end`. */
async function notified(server: AgentServer, stream: Response): Promise<readonly unknown[]> {
  server.notify("local", { type: "end" });
  const reader = (stream.body as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes('"type":"end"')) text += (await reader.read()).value ?? "";
  await reader.cancel();
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => JSON.parse(data).notification.data);
}

it("a notification may be as long as its limit as JSON, in bytes; over it no reader gets it and the product gets the reason", async () => {
  const { server, send } = testServer();
  const stream = await send("/api/notifications");
  const most = defaultServerLimits.notificationBytes;
  const left = most - JSON.stringify({ type, data: "" }).length;
  const fitting = ["x".repeat(left), "ü".repeat(Math.floor(left / 2))];
  for (const data of fitting) server.notify("local", { type, data });
  const deep: { in?: object } = {};
  for (let at = deep, level = 0; level < 100_000; level++) at = at.in = {};
  for (const data of ["x".repeat(left + 1), "ü".repeat(Math.floor(left / 2) + 1), "x".repeat(100 * most), deep as never])
    expect(() => server.notify("local", { type, data })).toThrow(
      expect.objectContaining({ code: "PAYLOAD_TOO_LARGE", message: `The notification \`${type}\` has more than ${most} bytes as JSON.` }),
    );
  expect(await notified(server, stream)).toEqual([...fitting, undefined]);
  await server.close();
});

it("data that is no JSON is refused as such", async () => {
  const { server } = testServer();
  const circle: { self?: object } = {};
  circle.self = circle;
  for (const data of [circle, 1n])
    expect(() => server.notify("local", { type, data: data as never })).toThrow(expect.objectContaining({ code: "INPUT_INVALID" }));
  await server.close();
});

it("a server may have another limit for them", async () => {
  const { server } = testServer({ limits: { notificationBytes: 40 } });
  expect(() => server.notify("local", { type, data: "half" })).not.toThrow();
  expect(() => server.notify("local", { type, data: "half of all that there was" })).toThrow(/more than 40 bytes/);
  await server.close();
});
