/** Acme as an event channel of Loopwright. */
export { type AcmeChannel, type AcmeChannelOptions, acmeChannel } from "./acme-channel.ts";
export { type Hub, type HubOptions, startHub } from "./hub.ts";
