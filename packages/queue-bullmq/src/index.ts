/** Wakes workers on many machines, over BullMQ. */
export { type BullQueueOptions, bullQueue } from "./bull-queue.ts";
