package import LarderTestSupport

/// What goes wrong between a store and its service.
package enum Fault: Sendable, Hashable {
  /// The request does not come to the service.
  case requestLost
  /// The service acts, and the response does not come back.
  case responseLost
  /// The response does not come back, and the service acts later: before it sees another request of anyone.
  case delayed
  /// A response with this status, and the service does not act.
  case status(Int)
  /// A gateway's response with this status, and the service acts.
  case gateway(Int)
  /// The response ends in its middle; `isSilent` if the connection does not report it.
  case truncated(isSilent: Bool)
  /// A web page instead of the response; the service acts.
  case page
  /// A response that means an empty collection in another protocol.
  case foreign(Foreign)
  /// One part of a batch is rejected with this status.
  case part(Int, status: Int)
  /// The response to one part of a batch is missing; another part may be rejected besides.
  case partMissing(Int, rejected: Int?)
  /// The response to one request of a change set is missing; another one may be rejected besides.
  case memberMissing(Int, rejected: Int?)
  /// The responses to a change set come in another order, and one of them says not whose it is.
  case idMissing(Int)
  /// The response to one request of a batch comes under the name of another.
  case idRepeated(Int)
  /// Two parts of a batch response change places.
  case partsSwapped
  /// One part of a batch response comes twice.
  case partTwice(Int)
  /// The store's process ends before the request leaves, or when the service has acted.
  case crash(isAfter: Bool)

  package enum Foreign: String, Sendable, CaseIterable {
    case nothing, array, envelope, feed, valueTwice
  }

  /// Whether it is for requests that read; all others are for changes.
  package var isForReads: Bool { if case .foreign = self { true } else { false } }

  /// Whether the service acts at once, and its response does not report that to the store.
  func loses(_ response: ModelResponse) -> Bool {
    switch self {
    case .responseLost, .gateway, .page, .crash(isAfter: true): true
    // A response without content arrives whole. If its content ends early without an error, the store still has the head,
    // which is enough for a single response, not for a batch.
    case .truncated(let isSilent): !response.body.isEmpty && (!isSilent || response.parts != nil)
    default: false
    }
  }

  /// A fault by chance of those that downloads meet.
  package static func ofDownload(using random: inout PrintedSeed) -> Fault {
    func one<Value>(_ values: [Value]) -> Value { values[Int(random.next() % UInt64(values.count))] }
    return switch random.next() % 6 {
    case 0: .responseLost
    case 1: .truncated(isSilent: random.next() % 2 == 0)
    case 2: .status(one([401, 403, 429, 500, 503]))
    default: ofForeignResponse(using: &random)
    }
  }

  /// A response by chance that means an empty collection in another protocol.
  package static func ofForeignResponse(using random: inout PrintedSeed) -> Fault {
    .foreign(Foreign.allCases[Int(random.next() % UInt64(Foreign.allCases.count))])
  }

  /// A fault by chance of those that uploads meet.
  package static func ofUpload(using random: inout PrintedSeed) -> Fault {
    switch random.next() % 20 {
    case 0: .requestLost
    case 1: .status([401, 403, 429, 500, 503][Int(random.next() % 5)])
    case 2...11: ofLostResponse(using: &random)
    default: ofBatch(using: &random)
    }
  }

  /// A fault by chance that leaves open what the service did.
  package static func ofLostResponse(using random: inout PrintedSeed) -> Fault {
    switch random.next() % 12 {
    case 0...4: .responseLost
    case 5, 6: .delayed
    case 7: .gateway([502, 503, 504][Int(random.next() % 3)])
    case 8: .truncated(isSilent: random.next() % 2 == 0)
    case 9: .page
    case 10: .crash(isAfter: false)
    default: .crash(isAfter: true)
    }
  }

  /// A fault by chance: a part was done, its response is missing, and another part was rejected.
  package static func ofMissingPart(using random: inout PrintedSeed) -> Fault {
    let part = Int(random.next() % 4)
    return .partMissing(part, rejected: part + 1 + Int(random.next() % 2))
  }

  /// A fault by chance in the response to a change set of several requests.
  package static func ofChangeSet(using random: inout PrintedSeed) -> Fault {
    let member = Int(random.next() % 3)
    return switch random.next() % 5 {
    case 0: .idMissing(member)
    case 1: .memberMissing(member, rejected: nil)
    default: .memberMissing(member, rejected: member + 1 + Int(random.next() % 2))
    }
  }

  /// A fault by chance in the response to a batch.
  package static func ofBatch(using random: inout PrintedSeed) -> Fault {
    let part = Int(random.next() % 4)
    return switch random.next() % 11 {
    case 8: .idRepeated(part)
    case 9, 10: ofChangeSet(using: &random)
    case 0, 1: .part(part, status: [400, 403, 409, 412, 428, 429, 500][Int(random.next() % 7)])
    case 2: .partMissing(part, rejected: nil)
    case 3...5: .partMissing(part, rejected: Int(random.next() % 4))
    case 6: .partsSwapped
    default: .partTwice(part)
    }
  }
}

extension Fault: CustomStringConvertible {
  package var description: String {
    switch self {
    case .requestLost: "request lost"
    case .responseLost: "response lost"
    case .delayed: "response lost, the service acts later"
    case .status(let status): "response \(status)"
    case .gateway(let status): "done, response \(status)"
    case .truncated(let isSilent): isSilent ? "truncated silently" : "truncated"
    case .page: "done, response is a web page"
    case .foreign(let form): "an empty collection as \(form)"
    case .part(let part, let status): "part \(part) rejected with \(status)"
    case .partMissing(let part, let rejected): "part \(part) missing" + (rejected.map { ", part \($0) rejected" } ?? "")
    case .memberMissing(let member, let rejected):
      "member \(member) missing" + (rejected.map { ", member \($0) rejected" } ?? "")
    case .idMissing(let member): "members in another order, that of \(member) without its id"
    case .idRepeated(let part): "part behind \(part) under its id"
    case .partsSwapped: "parts swapped"
    case .partTwice(let part): "part \(part) twice"
    case .crash(let isAfter): isAfter ? "crash when the service has acted" : "crash before the request leaves"
    }
  }
}
