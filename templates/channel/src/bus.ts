/**
 * What the channel needs of a message bus: the one part to replace. `tcp-bus.ts` is such a bus over a hub of this package; with NATS, MQTT or
 * PostgreSQL's LISTEN it is the vendor's client behind these four methods.
 */
export interface Bus {
  /** Sends to all other nodes that have joined the topic, in order. Never waits. False when the message was not taken: disconnected, or too much waits. */
  send(topic: string, text: string): boolean;
  /** Asks for the messages of a topic, also after every reconnection, until `leave`. */
  join(topic: string): void;
  leave(topic: string): void;
  close(): Promise<void>;
}

/** What a bus reports. */
export interface BusListener {
  message(topic: string, text: string): void;
  /** From now on the messages of the topic arrive. Reported for every join, and again after each reconnection. */
  joined(topic: string): void;
  /** Nothing arrives until `joined` is reported again. */
  disconnected(): void;
}
