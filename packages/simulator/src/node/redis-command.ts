import { connect } from "node:net";

const deadlineMs = 10_000;

/** The reply of one command over a connection of its own, as the protocol's text. Rejects with an error reply, or when none comes in 10 s. */
export function askRedis(port: number, words: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(encode(words) + encode(["QUIT"])));
    const received: Buffer[] = [];
    socket.setTimeout(deadlineMs, () => socket.destroy(new Error(`redis-server did not answer ${words[0]} in ${deadlineMs} ms.`)));
    socket.on("data", (chunk) => received.push(chunk));
    socket.once("error", reject);
    socket.once("end", () => {
      socket.end();
      const text = Buffer.concat(received)
        .toString("utf8")
        .replace(/\+OK\r\n$/, "")
        .trimEnd();
      if (text.startsWith("-")) reject(new Error(text.slice(1)));
      else resolve(text);
    });
  });
}

function encode(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`;
}
