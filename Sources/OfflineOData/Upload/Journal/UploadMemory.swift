import OData
import Synchronization

/// What uploads have found out about a service while the store is open.
struct UploadMemory: Sendable, Hashable {
  /// It takes no batches.
  var refusesBatches = false
  /// It refuses requests for the names by which it could recognise them.
  var refusesNames = false
  /// It is kept in the file that the service recognises repeated requests.
  var knowsRepeatable = false
}

extension OpenStore {
  var refusesNames: Bool { upload.withLock { $0.refusesNames } }
  var knowsRepeatable: Bool { upload.withLock { $0.knowsRepeatable } }
  /// Also where the service's metadata say so (Capabilities Vocabulary, `BatchSupported`).
  var refusesBatches: Bool { upload.withLock { $0.refusesBatches } || !replica.model.saysBatchesAreSupported }

  func refuseNames() { upload.withLock { $0.refusesNames = true } }
  func learnedRepeatable() { upload.withLock { $0.knowsRepeatable = true } }
  func refuseBatches() { upload.withLock { $0.refusesBatches = true } }
}

extension EdmModel {
  fileprivate var saysBatchesAreSupported: Bool {
    guard let container = defaultContainer?.qualifiedName else { return true }
    let said = annotation("Org.OData.Capabilities.V1.BatchSupported", target: container)
    if case .constant(_, "false")? = said?.value { return false }
    return true
  }
}
