/* The key that names are made under in tests: see wire_hash.h. */
#ifndef OFFCPU_TESTS_BPF_HOST_HASH_KEY_H_
#define OFFCPU_TESTS_BPF_HOST_HASH_KEY_H_

#define HOST_KEY_LOW 0x0706050403020100ULL
#define HOST_KEY_HIGH 0x0f0e0d0c0b0a0908ULL

#endif /* OFFCPU_TESTS_BPF_HOST_HASH_KEY_H_ */
