/** Hands a text to the browser as a file to keep. */
export function download(name: string, text: string, mediaType: string): void {
  downloadBlob(name, new Blob([text], { type: mediaType }));
}

/** Hands bytes to the browser as a file to keep. */
export function downloadBlob(name: string, file: Blob): void {
  const address = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser has begun to read it by the time the page is idle again.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
