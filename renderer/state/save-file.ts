/** Gives a text to the person as a file: where it is saved is for the window or the browser to ask. */
export function saveFile(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The download has begun by then; an address that is kept would keep the whole text.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
