export const shout = (text) => text.toLowerCase();

export const initials = (name) => name.split(" ").map((word) => word[1]).join("");
