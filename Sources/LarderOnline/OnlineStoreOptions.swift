public import LarderCore
public import LarderHTTP
public import LarderService
public import LarderStorage

/// The options of an online store. They cannot change while it is open.
public struct OnlineStoreOptions: Sendable {
  /// Whether the technical cache is used. Off by default.
  public var useCache: Bool
  /// The folder of the cache's file; it is created if it does not exist. Nil means `APPLICATION/online/SERVICE` in the
  /// platform's folder for data: `Library/Application Support` on Apple platforms, elsewhere `$XDG_DATA_HOME` or
  /// `~/.local/share`.
  public var path: String?
  /// Distinguishes several stores of one application. The name may be any text and is part of the cache file's name:
  /// two different names are two files.
  public var storeName: String
  /// The maximum number of bytes in the cache. Above it, the least recently used responses are removed.
  public var byteLimit: Int
  /// The percentage of ``byteLimit`` at which a clean-up ends.
  public var cacheCleanupThreshold: Int
  /// Encrypts the cache's file, with its log and its temporary files; nil leaves it unencrypted. An existing cache must
  /// be encrypted with this key; ``OnlineODataStore/clearCache()`` removes one that is not.
  ///
  /// A key can be set but not read: this property always reads as nil. ``OnlineODataStore/options`` do not contain it
  /// either: a store that is created with them does not open the file.
  public var encryptionKey: StorageKey? {
    get { nil }
    set { givenKey = GivenKey(newValue) }
  }
  /// When the cache's file can be read and written, on Apple devices.
  public var fileProtection = FileProtection.completeUntilFirstUserAuthentication
  /// Request fields that identify the client. Entries of the technical cache are never shared between different values
  /// of any of them.
  public var credentialFields = CredentialFields()
  /// Whether V4 reads request delta links (`Prefer: odata.track-changes`), which let later reads detect cheaply that
  /// nothing changed. Delta links that a service sends unrequested are used in any case.
  public var tracksChanges: Bool
  /// Whether requests that the service's metadata do not allow fail before they are sent
  /// (``LarderService/ODataServiceError`` `invalidRequest`, with the annotation): changes, and queries of entity sets
  /// and entities of generated types. Reads by URL are never checked, and nothing is checked until the store has the
  /// metadata. Set it to false if a service accepts more than its metadata say: then the service decides.
  public var checksRestrictions = true
  /// How the store communicates with the service.
  public var conversation: ODataConversationOptions
  /// Called with what no call can throw: a problem of the cache, or a feature that the service rejects. Called on any
  /// thread, and never under a lock.
  public var onDiagnostic: (@Sendable (LarderDiagnostic) -> Void)?

  package var givenKey: GivenKey

  /// Whether opening loads the metadata. Without it, only reads of known URLs are certain to work.
  package var loadsMetadata = true

  /// Whether a store that stays passive also opens a cache that another store uses. It reads beside that store, which may
  /// be waiting for its service.
  package var readsUnclaimedCache = false

  /// The largest number of pages of the cache's file: simulates a full disk in tests.
  package var maximumPageCount: Int?

  /// The default options: no cache; if one is enabled, 16 MiB, cleaned up to 60 %.
  public init(
    useCache: Bool = false, path: String? = nil, storeName: String = "store", byteLimit: Int = 16 << 20,
    cacheCleanupThreshold: Int = 60, encryptionKey: StorageKey? = nil, tracksChanges: Bool = false,
    conversation: ODataConversationOptions = ODataConversationOptions(),
    onDiagnostic: (@Sendable (LarderDiagnostic) -> Void)? = nil
  ) {
    self.useCache = useCache
    self.path = path
    self.storeName = storeName
    self.byteLimit = byteLimit
    self.cacheCleanupThreshold = cacheCleanupThreshold
    givenKey = GivenKey(encryptionKey)
    self.tracksChanges = tracksChanges
    self.conversation = conversation
    self.onDiagnostic = onDiagnostic
  }

  /// These options without the key.
  var withoutKey: OnlineStoreOptions {
    var options = self
    options.givenKey = givenKey.withheld
    return options
  }

  var limits: CacheLimits { CacheLimits(bytes: byteLimit, threshold: cacheCleanupThreshold) }

  func place(_ root: ODataServiceRoot) throws(StorageError) -> CachePlace {
    CachePlace(folder: try folder(for: root), storeName: storeName, root: root)
  }

  /// The folder of the cache's file: ``path``, or the default folder of the service.
  private func folder(for root: ODataServiceRoot) throws(StorageError) -> String {
    if let path { return path }
    return try DefaultLocation.onlineStore(root.givenURL).path(in: conversation.environment.folders)
  }
}
