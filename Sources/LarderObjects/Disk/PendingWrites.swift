import LarderStorage

/// The changes that are pending for the writer, and how long recent writes took.
struct PendingWrites: Sendable {
  var changes: [PendingWrite] = []
  var pace = WritingPace()
}
