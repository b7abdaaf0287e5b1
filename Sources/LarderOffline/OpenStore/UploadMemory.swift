import LarderCore
import LarderOData

/// What uploads have found out about a service while the store is open.
struct UploadMemory: Sendable, Hashable {
  /// It takes no batches.
  var rejectsBatches = false
  /// It refuses requests for the names by which it could recognise them.
  var rejectsRequestNames = false
  /// It is kept in the file that the service recognises repeated requests.
  var supportsRepeatability = false
  /// The entities that creations of this upload were found to have made: each is that of one.
  var claimed: [String: Int64] = [:]
}

extension OpenStore {
  var rejectsRequestNames: Bool { upload.withLock { $0.rejectsRequestNames } }
  var supportsRepeatability: Bool { upload.withLock { $0.supportsRepeatability } }
  /// Also where the service's metadata say so (Capabilities Vocabulary, `BatchSupported`).
  var rejectsBatches: Bool { upload.withLock { $0.rejectsBatches } || !replica.model.declaresBatchSupport }

  /// Takes the first of entities for a creation, that no other has taken; nil where all are taken.
  func claim(_ entities: [String], for creation: Int64) -> Int? {
    upload.withLock { memory in
      let claimedIndex = entities.firstIndex { memory.claimed[$0] == creation }
      guard let place = claimedIndex ?? entities.firstIndex(where: { memory.claimed[$0] == nil }) else { return nil }
      memory.claimed[entities[place]] = creation
      return place
    }
  }

  /// Whether an entity was found to be what another creation has made.
  func isClaimed(_ entity: String, byOtherThan creation: Int64) -> Bool {
    upload.withLock { $0.claimed[entity].map { $0 != creation } ?? false }
  }

  func forgetClaims() { upload.withLock { $0.claimed = [:] } }
  func recordNameRejection() { upload.withLock { $0.rejectsRequestNames = true } }
  func recordRepeatability() { upload.withLock { $0.supportsRepeatability = true } }
  func recordBatchRejection() { upload.withLock { $0.rejectsBatches = true } }
}

extension EdmModel {
  /// Whether the metadata say that the service recognises a request that is sent again (Repeatability Vocabulary,
  /// `Supported`): of an action or set before the container; nil where they say nothing.
  func declaresRepeatability(_ request: QueuedRequest) -> Bool? {
    guard let container = defaultContainer?.qualifiedName else { return nil }
    var targets = [container]
    let first = request.target.path.split(separator: "/").first.map { $0.prefix { $0 != "(" && $0 != "?" } }
    let set = request.entity?.table.split(separator: "/").first ?? request.target.row?.table.split(separator: "/").first
    if let name = set ?? first { targets.insert("\(container)/\(name)", at: 0) }
    if request.operation == .action, let last = request.target.path.split(separator: "/").last {
      targets.insert(String(last.prefix { $0 != "(" && $0 != "?" }), at: 0)
    }
    for target in targets {
      guard let declared = annotation("Org.OData.Repeatability.V1.Supported", target: target) else { continue }
      if case .constant(_, "false")? = declared.value { return false }
      return true
    }
    return nil
  }

  fileprivate var declaresBatchSupport: Bool {
    guard let container = defaultContainer?.qualifiedName else { return true }
    let declared = annotation("Org.OData.Capabilities.V1.BatchSupported", target: container)
    if case .constant(_, "false")? = declared?.value { return false }
    return true
  }
}
