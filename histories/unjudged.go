package histories

// Unjudged begins the text of a note that says what of the answers of clients
// nobody can judge, such as a hash of contents of which nobody knows what they were.
// It may be what shows a loss, so that a history with such a note is never judged
// to be ok.
const Unjudged = "not judged: "
