import { protocolNode } from "./protocol-node.ts";

/** A node whose model stops in the middle of each answer, for tests that kill it. Prints its address. */
const { url } = await protocolNode(process.argv[2] ?? "", {
  turn: { thinking: "A window.", text: "It is rai", chunkSize: 3, hang: true },
  port: 0,
});
console.log(url);
