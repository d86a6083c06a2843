export type { SentByBot } from "./fake-chats.ts";
export { type FakePerson, type FakeTelegram, type FakeWords, fakeTelegram } from "./fake-telegram.ts";
