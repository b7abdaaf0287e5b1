/// The names of the errors of an offline store. Raw values are stable; the thousands digit is the category.
///
/// | numbers | category |
/// | --- | --- |
/// | 1001 … | `invalidInput` |
/// | 2001 … | `preconditionFailed` |
/// | 3001 … | `notFound` |
/// | 4001 … | `notSupported` |
/// | 5001 … | `communicationError` |
/// | 6001 … | `serverSideError` |
/// | 7001 … | `clientInternalError` |
public enum OfflineODataErrorName: Int, CaseIterable, Sendable, Hashable {
  // invalidInput
  /// A text that is not a valid OData URL.
  case malformedURL = 1001
  /// A URL that does not fit the model because of a name, type or operator.
  case unfittingURL = 1002
  /// `$top` is below 0.
  case notPositiveTop = 1003
  /// `$skip` is below 0.
  case notPositiveSkip = 1004
  /// A `$skiptoken` that this store did not create, or created for another query.
  case invalidSkipToken = 1005
  /// A key names a property twice.
  case duplicateKeyProperty = 1006
  /// A key lacks one of its properties.
  case missingKeyProperty = 1007
  /// A value that its type cannot hold.
  case invalidValue = 1008
  /// A store name that cannot be a file name.
  case invalidStoreName = 1009
  /// A parameter of the store is outside its range.
  case invalidParameter = 1010
  /// The name of a defining query is empty or contains characters that are not allowed.
  case invalidDefiningQueryName = 1011
  /// There is already a defining query with this name.
  case duplicateDefiningQuery = 1012
  /// A defining query that does not fit the model, or does not return entities.
  case invalidDefiningQuery = 1013
  /// A service root that is not an http or https URL.
  case invalidServiceRoot = 1014
  /// A query that fits the model but cannot be computed: a division by zero, an invalid pattern.
  case invalidQuery = 1015
  /// A Swift type that cannot be decoded from the result.
  case undecodableType = 1016
  /// A property that the entity's type does not declare.
  case unknownProperty = 1017
  /// Null for a property that cannot be null.
  case nullNotAllowed = 1018
  /// A change would set a key property to another value.
  case keyChanged = 1019
  /// A value for a property that only the service sets, or that cannot change.
  case readOnlyProperty = 1020
  /// A request whose content does not fit its operation.
  case unfittingBody = 1021
  /// The parameters have no path, and the platform's folder for data is unknown.
  case noDefaultLocation = 1022
  /// A request that cannot be sent, because of its URL, a header field or its content.
  case invalidRequest = 1023

  // preconditionFailed
  /// The store is not open.
  case storeNotOpen = 2001
  /// The store is open, but the operation needs a closed store.
  case storeOpen = 2002
  /// Another download of this store is running, in this process or in another.
  case downloadRunning = 2003
  /// Another upload of this store is running, in this process or in another.
  case uploadRunning = 2011
  /// The file belongs to another service.
  case otherService = 2004
  /// The store's file is in use elsewhere.
  case storeInUse = 2005
  /// An offline store has no passive mode.
  case neverPassive = 2006
  /// The rows have never been downloaded: the first download of their defining query has not finished.
  case neverDownloaded = 2007
  /// The call would lose pending changes.
  case changesPending = 2008
  /// The ETag given by the caller is not that of the entity's current version.
  case entityChanged = 2009
  /// An entity with this key exists.
  case entityExists = 2010
  /// The store's file is encrypted with a key other than the one given.
  case wrongEncryptionKey = 2012
  /// The store's file is encrypted, and no key was given.
  case encryptionKeyMissing = 2013
  /// The store's file is not encrypted, and a key was given.
  case storeNotEncrypted = 2014
  /// The store's file belongs to another user.
  case otherUser = 2015
  /// Another user's unencrypted store should be set aside, but no key was given to encrypt it.
  case setAsideNeedsKey = 2016
  /// The response to a request was lost, and it is not known yet whether the request took effect.
  case outcomeUncertain = 2017
  /// The response to a change was lost, and a look-up found that the change took effect.
  case changeTookEffect = 2018
  /// The store is suspended, or was suspended while this call ran.
  case storeSuspended = 2019

  // notFound
  /// The entity does not exist.
  case entityNotFound = 3001
  /// There is no defining query with this name.
  case definingQueryNotFound = 3002
  /// The bytes of a media entity or stream property are not in the store.
  case mediaNotFound = 3003
  /// The resource that the path names has no value.
  case resourceNotFound = 3004
  /// No defining query includes the requested data: an entity set, a link, or a property that a `$select` leaves out.
  case notDownloaded = 3005

  // notSupported
  /// A part of the URL that the store does not support.
  case unsupportedQuery = 4001
  /// A change that the store does not support.
  case unsupportedChange = 4003
  /// A part of the model that the store cannot represent.
  case unsupportedModel = 4004
  /// Too many defining queries for one table.
  case tooManyDefiningQueries = 4005
  /// A kind of request that an offline store does not support.
  case unsupportedRequest = 4006
  /// A feature that the file, or this platform's storage engine, does not support.
  case unsupportedStorage = 4007
  /// A feature that the service, or the transport, does not support.
  case unsupportedByService = 4008
  /// The model does not allow creating these entities.
  case insertRestricted = 4009
  /// The model does not allow updating these entities.
  case updateRestricted = 4010
  /// The model does not allow deleting these entities.
  case deleteRestricted = 4011

  // communicationError
  /// The host's name has no address.
  case hostNotFound = 5001
  /// No connection could be established.
  case cannotConnect = 5002
  /// No secure connection could be established.
  case insecureConnection = 5003
  /// The service took too long to respond.
  case timeout = 5004
  /// The connection was lost before the response was complete.
  case connectionLost = 5005
  /// The service is temporarily unavailable: 425, 429, 502, 503, 504, or its token endpoint is.
  case serviceUnavailable = 5006
  /// The service does not know the caller, or no credentials could be obtained.
  case authenticationFailed = 5007
  /// Any other failure of the transport.
  case transportFailed = 5008

  // serverSideError
  /// The service rejected a request.
  case requestRejected = 6001
  /// The service failed.
  case serviceFailed = 6002
  /// The response cannot be read.
  case malformedResponse = 6003
  /// The metadata cannot be read.
  case malformedMetadata = 6004
  /// A link in a response leads to another host.
  case foreignLink = 6005
  /// The next links of a response form a cycle.
  case endlessPages = 6006
  /// The text of a response is in an encoding that is not supported.
  case unreadableEncoding = 6007

  // clientInternalError
  /// The caller cancelled the operation.
  case cancelled = 7001
  /// The disk is full.
  case diskFull = 7002
  /// The store's file is damaged.
  case storeDamaged = 7003
  /// The file is not a store, or was written by a later version of this library.
  case foreignFile = 7004
  /// The file could not be read or written.
  case fileFailed = 7005
  /// An internal error, which should not be possible.
  case internalFailure = 7006
  /// The file of an open store was moved, removed or changed.
  case fileMoved = 7007
  /// The store's file is read-only.
  case storeReadOnly = 7008
}

extension OfflineODataErrorName {
  /// The category of the error.
  public var category: OfflineODataError.Category { entry.category }

  /// A description of the error without details of the occurrence.
  public var message: String { entry.message }

  /// What to do about the error; nil if that depends on the details.
  public var cure: String? { entry.cure }
}
