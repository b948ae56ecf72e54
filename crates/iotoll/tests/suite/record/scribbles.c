/* Sets the counter of lost calls in the memory that it shares with the recorder up and down, and
   ends with 42. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOST 192

int main(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    volatile uint64_t *lost = NULL;
    char line[512];
    unsigned long from;
    while (maps && !lost && fgets(line, sizeof line, maps))
        if (strstr(line, "iotoll-ring") && sscanf(line, "%lx", &from) == 1)
            lost = (volatile uint64_t *)(from + LOST);
    for (int i = 0; lost && i < 40; i++) {
        *lost = i % 2 ? UINT64_MAX : 0;
        usleep(15000);
    }
    return lost ? 42 : 3;
}
