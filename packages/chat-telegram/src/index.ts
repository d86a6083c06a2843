export { openTelegram, type TelegramChannel, type TelegramOptions, type TelegramWebhook } from "./open-telegram.ts";
