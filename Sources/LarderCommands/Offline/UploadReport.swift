internal import OData
internal import OfflineOData
internal import Synchronization

/// What an upload tells: progress on a terminal while it runs, the numbers and what was refused at its end.
final class UploadReport: Sendable {
  private let context: CommandContext
  private let state = Mutex(OfflineODataUploadReport())

  init(_ context: CommandContext) { self.context = context }

  /// What became of the changes so far.
  var numbers: OfflineODataUploadReport { state.withLock { $0 } }

  /// 1 where the service refused a change.
  var status: CommandStatus { numbers.failed > 0 ? .negative : .done }

  /// Runs an upload, shows how far it is, and hears its end, good or bad.
  func hear(_ provider: OfflineODataProvider, _ work: () async throws -> Void) async throws {
    let bars = DownloadBars(context, unit: "changes")
    let events = provider.events
    let hearing = Task {
      for await event in events {
        switch event {
        case .uploadProgress(let progress):
          bars.update("upload") { line in
            line.step = progress.failed > 0 ? "\(progress.failed) refused" : ""
            line.rows = Int64(progress.sent + progress.failed)
            line.total = Int64(progress.total)
          }
        case .uploadFinished(let report), .uploadFailed(let report, _):
          self.state.withLock { $0 = report }
          return
        default: break
        }
      }
    }
    defer { bars.end() }
    do { try await work() } catch {
      // An upload that has not begun tells no end.
      hearing.cancel()
      await hearing.value
      throw error
    }
    await hearing.value
  }

  /// `sent 3, failed 1, left 0`, and what was refused.
  func print(_ provider: OfflineODataProvider, in folder: CloneFolder) async throws {
    let numbers = numbers
    var words = "sent \(numbers.sent), failed \(numbers.failed), left \(numbers.left)"
    if numbers.discarded > 0 { words += ", given up \(numbers.discarded)" }
    try context.output.line(words)
    let held = try await PendingChanges(provider).held
    if numbers.left > 0, numbers.failed == 0, held > 0 {
      context.note(
        "What is left may wait for a refused change: 'larder \(folder.option)errors list' tells, 'errors retry' sends both."
      )
    }
    guard numbers.failed > 0 else { return }
    let rows = try await ArchiveSets.errors(provider)
    for row in rows where row["Held"] != .boolean(true) { context.warn(ErrorsText.summary(row)) }
    context.note(
      "'larder \(folder.option)errors list' tells more, 'larder \(folder.option)errors diff ID' what differs.")
  }

  /// The numbers under their names, and the error that ended the upload.
  func write(to json: inout JSONOutput, endingWith error: (any Error)? = nil) {
    let numbers = numbers
    json.beginObject()
    json.member("sent", numbers.sent)
    json.member("failed", numbers.failed)
    json.member("left", numbers.left)
    json.member("discarded", numbers.discarded)
    json.member("requests", numbers.requests)
    json.member("error", error.map { CommandFailure($0).message })
    json.endObject()
  }
}
