public import LarderHTTP
public import LarderService
public import LarderStorage

/// How an online store works; fixed while it is open.
public struct OnlineStoreOptions: Sendable {
  /// Whether the technical cache is used. Off by default.
  public var useCache: Bool
  /// The folder that holds cache files, made where it is missing. Nil is a folder with the application's name in the platform's
  /// folder for caches: `Library/Caches` on Apple platforms, elsewhere `$XDG_CACHE_HOME` or `~/.cache`.
  public var cachePath: String?
  /// Tells several stores of one application apart: part of the cache file's name. Any text; two different ones are two files.
  public var storeName: String
  /// Past this size, in kB of 1,024 bytes, the answers that were not used for longest are removed.
  public var maximumCacheSize: Int
  /// At how many percent of ``maximumCacheSize`` a clean-up ends.
  public var cacheCleanupThreshold: Int
  /// Encrypts the cache's file, with its log and its temporary files; nil keeps a plain one. A cache that is there must be
  /// encrypted with it; ``OnlineODataStore/resetCache()`` removes one that is not.
  ///
  /// A key is passed in and never shown: this reads as nil, whatever was given. ``OnlineODataStore/options`` do not hold it:
  /// a store that is made with them does not open the file.
  public var cacheEncryptionKey: StorageKey? {
    get { nil }
    set { givenKey = GivenKey(newValue) }
  }
  /// When the cache's file can be read and written, on Apple's devices.
  public var fileProtection = FileProtection.completeUntilFirstUserAuthentication
  /// Request fields that say who asks: entries of the technical cache for different values of any of them are never exchanged.
  public var credentialFields = CredentialFields()
  /// Whether V4 reads ask for delta links (`Prefer: odata.track-changes`), by which later reads find out cheaply that
  /// nothing changed. Delta links that a service gives unasked are used in any case.
  public var tracksChanges: Bool
  /// How the service is spoken with.
  public var conversation: ConversationOptions
  /// Hears what went wrong without keeping a request from its answer. Called on any thread.
  public var onDiagnostic: (@Sendable (OnlineStoreDiagnostic) -> Void)?

  package var givenKey: GivenKey

  /// Whether opening loads the metadata. Without it, reads of known URLs are all that is certain to work.
  package var loadsMetadata = true

  /// The most pages the cache's file may have: a full disk, for tests.
  package var maximumPageCount: Int?

  /// The defaults: no cache; 16,384 kB, cleaned up to 60 %, where one is used.
  public init(
    useCache: Bool = false, cachePath: String? = nil, storeName: String = "store", maximumCacheSize: Int = 16_384,
    cacheCleanupThreshold: Int = 60, cacheEncryptionKey: StorageKey? = nil, tracksChanges: Bool = false,
    conversation: ConversationOptions = ConversationOptions(),
    onDiagnostic: (@Sendable (OnlineStoreDiagnostic) -> Void)? = nil
  ) {
    self.useCache = useCache
    self.cachePath = cachePath
    self.storeName = storeName
    self.maximumCacheSize = maximumCacheSize
    self.cacheCleanupThreshold = cacheCleanupThreshold
    givenKey = GivenKey(cacheEncryptionKey)
    self.tracksChanges = tracksChanges
    self.conversation = conversation
    self.onDiagnostic = onDiagnostic
  }

  /// The same without the key.
  var shown: OnlineStoreOptions {
    var options = self
    options.givenKey = .withheld
    return options
  }

  var limits: CacheLimits { CacheLimits(kilobytes: maximumCacheSize, threshold: cacheCleanupThreshold) }

  func place(_ root: ODataServiceRoot) -> CachePlace {
    CachePlace(folder: cachePath ?? PlatformFolder.caches, storeName: storeName, root: root)
  }
}
