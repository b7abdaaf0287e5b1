import LarderStorage

/// What waits for the writer, and how writing went of late.
struct WaitingChanges: Sendable {
  var changes: [WaitingChange] = []
  var pace = WritingPace()
}
