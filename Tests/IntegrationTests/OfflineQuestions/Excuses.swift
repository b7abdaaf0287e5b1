import TestSupport

/// A fault of a server: answers may differ there, and nowhere else.
struct Excuse: Sendable {
  /// A short name, unique.
  let id: String
  let server: Server
  /// The paragraph that the server does not keep.
  let paragraph: String
  /// What it does instead.
  let fault: String
  /// Whether a difference in the answer to a question is this fault's. The question's text is not percent-encoded.
  let covers: @Sendable (String, AnswerDifference) -> Bool
  /// A request that shows the fault, and what its answer has where the fault is there.
  let proof: Proof

  enum Server: String, Sendable, CaseIterable { case mockSAPV2, mockSAPV4, odataPy }

  struct Proof: Sendable {
    let path: String
    let shows: @Sendable (PlainResponse) -> Bool
  }

  static func of(_ server: Server) -> [Excuse] { all.filter { $0.server == server } }
}

extension Excuse {
  static let all: [Excuse] = []
}
