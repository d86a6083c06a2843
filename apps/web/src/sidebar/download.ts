/** Hands a text to the browser as a file to keep. */
export function download(name: string, text: string, mediaType: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: mediaType }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser has begun to read it by the time the page is idle again.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
