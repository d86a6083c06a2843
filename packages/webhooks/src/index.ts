export type { HeldSession } from "./deliver-news.ts";
export { type IncomingWebhook, type ReceiveWebhooksOptions, receiveWebhooks, type WebhookPrincipal } from "./receive-webhooks.ts";
export { defaultEvents, type OutgoingWebhook, type SendWebhooksOptions, sendWebhooks, type WebhookSender } from "./send-webhooks.ts";
export { type CheckedDelivery, checkDelivery, type SignedDelivery, signedHeaders } from "./signature.ts";
export type { WebhookStatus } from "./target-loop.ts";
export { openWebhookMemory, type WebhookMemory } from "./webhook-memory.ts";
