import LarderStorage

/// The changes that are pending for the writer, and how long recent writes took.
struct WaitingChanges: Sendable {
  var changes: [WaitingChange] = []
  var pace = WritingPace()
}
