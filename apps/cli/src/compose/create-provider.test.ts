import { expect, test } from "vitest";
import { ollamaServer } from "./create-provider.ts";

test.each([
  [undefined, "http://127.0.0.1:11434"],
  ["", "http://127.0.0.1:11434"],
  ["0.0.0.0", "http://127.0.0.1:11434"],
  [":8080", "http://127.0.0.1:8080"],
  ["box", "http://box:11434"],
  ["box:80", "http://box"],
  ["[::]:8080", "http://[::1]:8080"],
  ["::1", "http://[::1]:11434"],
  ['"box:1234"', "http://box:1234"],
  ["http://0.0.0.0:11434/", "http://127.0.0.1:11434"],
  ["https://box/path/", "https://box/path"],
])("OLLAMA_HOST=%s is the server %s, as for Ollama's own tools", async (OLLAMA_HOST, server) => {
  expect(await ollamaServer(OLLAMA_HOST === undefined ? {} : { OLLAMA_HOST })).toBe(server);
});
