/** Wakes workers on many machines, over BullMQ. */
export {};
