/** What a session may be called, as a pattern and in words. It is a name in files, addresses and topics: no other place says it again. */
export const sessionIdPattern = /^[A-Za-z0-9._:-]{1,128}$/;
export const sessionIdRule = "1 to 128 letters, digits and . _ : -";
