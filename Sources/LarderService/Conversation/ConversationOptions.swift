public import LarderCore
public import LarderHTTP
public import LarderOData

/// How a conversation speaks with its service.
public struct ConversationOptions: Sendable {
  /// The service's version; nil finds it out from the metadata and the answers.
  public var version: ODataVersion?
  /// Fields of every request to the service's own origin, such as `Accept-Language` or an API key.
  public var fields: HTTPFields
  /// When a token against cross-site request forgery is fetched.
  public var csrf: CSRFMode
  /// When a POST stands for another method.
  public var tunnelling: MethodTunnelling
  /// How often a request is repeated.
  public var retry: RetryPolicy
  /// Time limits of each send, where the request has none of its own.
  public var timeouts: HTTPTimeouts
  /// Whether a service that refuses JSON (406, 415) is asked for Atom instead, from then on.
  public var fallsBackToAtom: Bool
  /// The longest content of an answer that is taken into memory, in bytes; streamed media has no limit.
  public var maximumPayloadBytes: Int
  /// Bounds on the metadata document.
  public var metadataLimits: MetadataLimits
  /// The clock, random numbers and tasks of the conversation and of the store that has it.
  public var environment: LarderEnvironment

  /// The defaults: everything found out, 256 MiB an answer.
  public init(
    version: ODataVersion? = nil, fields: HTTPFields = [:], csrf: CSRFMode = .automatic,
    tunnelling: MethodTunnelling = .never, retry: RetryPolicy = RetryPolicy(), timeouts: HTTPTimeouts = HTTPTimeouts(),
    fallsBackToAtom: Bool = true, maximumPayloadBytes: Int = 256 << 20,
    metadataLimits: MetadataLimits = MetadataLimits(), environment: LarderEnvironment = .system
  ) {
    self.version = version
    self.fields = fields
    self.csrf = csrf
    self.tunnelling = tunnelling
    self.retry = retry
    self.timeouts = timeouts
    self.fallsBackToAtom = fallsBackToAtom
    self.maximumPayloadBytes = maximumPayloadBytes
    self.metadataLimits = metadataLimits
    self.environment = environment
  }
}

/// When a POST with `X-HTTP-Method` stands for PUT, PATCH, MERGE or DELETE, for networks that let only GET and POST pass.
public enum MethodTunnelling: Sendable, Hashable {
  /// Never.
  case never
  /// For PATCH, MERGE and DELETE, once the service or something before it has answered 405 or 501 to one of them.
  case automatic
  /// For all four, from the start.
  case always

  /// True where the method goes as a POST.
  func applies(to method: HTTPMethod, wasRefused: Bool) -> Bool {
    switch self {
    case .never: false
    case .automatic: wasRefused && isReplaceable(method)
    case .always: method == .put || isReplaceable(method)
    }
  }

  /// True where an answer says that the method does not come through, and a POST may.
  func replaces(_ method: HTTPMethod, after status: Int) -> Bool {
    self == .automatic && (status == 405 || status == 501) && isReplaceable(method)
  }

  private func isReplaceable(_ method: HTTPMethod) -> Bool {
    method == .patch || method == .merge || method == .delete
  }
}
