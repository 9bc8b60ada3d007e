// OpenSSL for Swift: the library's headers, and inline stand-ins for macros that Swift cannot import.
#pragma once
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/conf.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// Wrappers for the module Crypto: macros and variadic functions.
/* EVP_EC_gen is a macro over the variadic EVP_PKEY_Q_keygen. */
static inline EVP_PKEY *peal_crypto_generate_p256(void) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
}
/* BIO_get_mem_data; the memory belongs to the BIO. */
static inline long peal_crypto_bio_memory(BIO *bio, char **data) {
    return BIO_get_mem_data(bio, data);
}
/* X509V3_set_ctx_nodb. */
static inline void peal_crypto_set_context_without_database(X509V3_CTX *context) {
    X509V3_set_ctx_nodb(context);
}
/* Stacks of certificates, which are macros. */
static inline int peal_crypto_certificate_count(const STACK_OF(X509) *stack) {
    return sk_X509_num(stack);
}
static inline X509 *peal_crypto_certificate(const STACK_OF(X509) *stack, int index) {
    return sk_X509_value(stack, index);
}
static inline void peal_crypto_free_certificates(STACK_OF(X509) *stack) {
    sk_X509_pop_free(stack, X509_free);
}
/* Whether a passphrase decrypts any of the bags of a p12, whatever its checksum says. */
static inline int peal_crypto_p12_decrypts(PKCS12 *file, const char *passphrase, int length) {
    int decrypts = 0;
    STACK_OF(PKCS7) *safes = PKCS12_unpack_authsafes(file);
    for (int i = 0; !decrypts && i < sk_PKCS7_num(safes); i++) {
        PKCS7 *safe = sk_PKCS7_value(safes, i);
        STACK_OF(PKCS12_SAFEBAG) *bags = NULL;
        if (PKCS7_type_is_encrypted(safe)) {
            bags = PKCS12_unpack_p7encdata(safe, passphrase, length);
            decrypts = bags != NULL;
        } else if (PKCS7_type_is_data(safe)) {
            bags = PKCS12_unpack_p7data(safe);
            for (int j = 0; !decrypts && j < sk_PKCS12_SAFEBAG_num(bags); j++) {
                PKCS12_SAFEBAG *bag = sk_PKCS12_SAFEBAG_value(bags, j);
                if (PKCS12_SAFEBAG_get_nid(bag) != NID_pkcs8ShroudedKeyBag) continue;
                PKCS8_PRIV_KEY_INFO *key = PKCS12_decrypt_skey(bag, passphrase, length);
                decrypts = key != NULL;
                PKCS8_PRIV_KEY_INFO_free(key);
            }
        }
        sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
    }
    sk_PKCS7_pop_free(safes, PKCS7_free);
    return decrypts;
}

// TLS: macros over SSL_CTX_ctrl and SSL_ctrl, and options that are casts.
static inline int peal_tls_require_1_2(SSL_CTX *context) {
    return (int)SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}
// A partial write is progress; what is left may have moved in memory when it is written again.
static inline void peal_tls_set_stream_modes(SSL_CTX *context, size_t read_buffer_bytes) {
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, read_buffer_bytes);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET |
                                     SSL_OP_CIPHER_SERVER_PREFERENCE);
}
static inline int peal_tls_set_server_name(SSL *stream, const char *name) {
    return (int)SSL_set_tlsext_host_name(stream, name);
}
static inline int peal_tls_add_chain_certificate(SSL_CTX *context, X509 *owned) {
    return (int)SSL_CTX_add0_chain_cert(context, owned);
}
