public import LarderCore
public import LarderHTTP
public import LarderOData

/// The options of a conversation with a service.
public struct ODataConversationOptions: Sendable {
  /// The service's version; nil detects it from the metadata and the responses.
  public var version: ODataVersion?
  /// Fields for every request to the service's own origin, such as `Accept-Language` or an API key.
  public var fields: HTTPFields
  /// When a token against cross-site request forgery is fetched.
  public var csrf: ODataCSRFMode
  /// When another method is sent as a POST.
  public var tunnelling: ODataMethodTunnelling
  /// How often a request is repeated.
  public var retry: HTTPRetryPolicy
  /// The time limits of each send, for requests that have none of their own.
  public var timeouts: HTTPTimeouts
  /// Whether a service that rejects JSON (406, 415) is sent requests for Atom from then on.
  public var fallsBackToAtom: Bool
  /// The largest content of a response that is read into memory, in bytes; streamed media has no limit.
  public var payloadByteLimit: Int
  /// The limits for the metadata document.
  public var metadataLimits: MetadataLimits
  /// The clock, random numbers and tasks that the conversation and its store use.
  public var environment: LarderEnvironment
  /// Whether content that another origin sends after a redirect is an error: for stores that keep it as the service's.
  /// Media may be sent by other origins.
  package var rejectsOtherOrigins = false

  /// The default options: everything is detected, and a response may have 256 MiB.
  public init(
    version: ODataVersion? = nil, fields: HTTPFields = [:], csrf: ODataCSRFMode = .automatic,
    tunnelling: ODataMethodTunnelling = .never, retry: HTTPRetryPolicy = HTTPRetryPolicy(),
    timeouts: HTTPTimeouts = HTTPTimeouts(),
    fallsBackToAtom: Bool = true, payloadByteLimit: Int = 256 << 20,
    metadataLimits: MetadataLimits = MetadataLimits(), environment: LarderEnvironment = .system
  ) {
    self.version = version
    self.fields = fields
    self.csrf = csrf
    self.tunnelling = tunnelling
    self.retry = retry
    self.timeouts = timeouts
    self.fallsBackToAtom = fallsBackToAtom
    self.payloadByteLimit = payloadByteLimit
    self.metadataLimits = metadataLimits
    self.environment = environment
  }
}

/// When PUT, PATCH, MERGE or DELETE is sent as a POST with `X-HTTP-Method`, for networks that let only GET and POST
/// pass.
public enum ODataMethodTunnelling: Sendable, Hashable {
  /// Never.
  case never
  /// For PATCH, MERGE and DELETE, once the service or a gateway has responded with 405 or 501 to one of them.
  case automatic
  /// For all four, from the start.
  case always

  /// True if the method is sent as a POST.
  func applies(to method: HTTPMethod, wasRejected: Bool) -> Bool {
    switch self {
    case .never: false
    case .automatic: wasRejected && isReplaceable(method)
    case .always: method == .put || isReplaceable(method)
    }
  }

  /// True if a response shows that the method is blocked, and a POST may pass.
  func replaces(_ method: HTTPMethod, after status: Int) -> Bool {
    self == .automatic && (status == 405 || status == 501) && isReplaceable(method)
  }

  private func isReplaceable(_ method: HTTPMethod) -> Bool {
    method == .patch || method == .merge || method == .delete
  }
}
